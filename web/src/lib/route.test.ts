import { expect, test } from "vitest";

import { formatRoute, handedOut, parseRoute, setupCode, type Route } from "./route";

test.each<Route>([
  { page: "tasks", project: "default" },
  { page: "tasks", project: "a b", task: "x/y" },
  { page: "tasks", project: "web", task: "job-1", state: "failed" },
  { page: "tasks", project: "web", state: "killed_oom", array: "sweep" },
  { page: "arrays", project: "default" },
  { page: "arrays", project: "a b", array: "sweep" },
  { page: "files", project: "default" },
  { page: "files", project: "a b", blob: "6f0c", kind: "output" },
  { page: "queue" },
  { page: "images" },
  { page: "accounts" },
  { page: "accounts", project: "lab", from: "2026-01-01", to: "2026-01-31" },
  { page: "workloads", project: "default" },
  { page: "workloads", project: "a b", workload: "web" },
  { page: "workloads", project: "web", state: "partly-running", tag: "a&b", node: "stall-1" },
  { page: "nodes" },
  { page: "nodes", node: "stall-1" },
  { page: "start" },
])("%o survives the address", (route) => {
  expect(parseRoute(formatRoute(route))).toEqual(route);
});

test("what is not a route is none", () => {
  expect(parseRoute("")).toBeUndefined();
  expect(parseRoute("#/projects/default")).toBeUndefined();
  expect(parseRoute("#setup=abc")).toBeUndefined();
  expect(parseRoute("#/projects/p/workloads?state=nonsense&tag=")).toEqual({
    page: "workloads",
    project: "p",
  });
  expect(parseRoute("#/projects/p/files?kind=image")).toEqual({ page: "files", project: "p" });
  expect(parseRoute("#/accounts?from=yesterday&project=")).toEqual({ page: "accounts" });
  expect(parseRoute("#/projects/p/tasks?state=nonsense")).toEqual({ page: "tasks", project: "p" });
});

test("the one-time code", () => {
  expect(setupCode("#setup=ABCD-1234")).toBe("ABCD-1234");
  expect(setupCode("#/nodes")).toBeUndefined();
});

test("what links hand over", () => {
  const fragment = "#invitation=hst_inv_a-b_c.00ff";
  expect(handedOut(fragment)).toEqual({
    kind: "invitation",
    secret: "hst_inv_a-b_c",
    fragment,
  });
  expect(handedOut("#reset=hst_reset_x")?.secret).toBe("hst_reset_x");
  for (const other of ["", "#/nodes", "#setup=a", "#invitation=", "#invitation=a b", "#other=x"])
    expect(handedOut(other)).toBeUndefined();
});
