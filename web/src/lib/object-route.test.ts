import { expect, test } from "vitest";

import { OBJECT_KINDS } from "./access-route";
import { objectRoute } from "./object-route";
import { formatRoute, parseRoute } from "./route";

test("a thing has a page where one shows it, and its address leads there", () => {
  const shown = OBJECT_KINDS.filter((kind) => {
    const route = objectRoute({ kind, id: "0192-i", name: "a/b" }, "lab");
    if (route) expect(parseRoute(formatRoute(route))).toEqual(route);
    return route !== undefined;
  });
  expect(shown).toEqual([
    "approval",
    "execution",
    "group",
    "hook",
    "image",
    "lock",
    "module",
    "node",
    "role",
    "schedule",
    "stack",
    "state-namespace",
    "task",
    "task-array",
    "watcher",
    "workflow",
    "workload",
  ]);
});

test("what has no name is found by its id", () => {
  const of = (kind: "task" | "workload") => objectRoute({ kind, id: "i", name: "" }, "lab");
  expect(of("task")).toEqual({ page: "tasks", project: "lab", task: "i" });
  expect(of("workload")).toEqual({ page: "workloads", project: "lab", workload: "i" });
});
