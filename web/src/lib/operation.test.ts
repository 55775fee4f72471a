import { expect, test } from "vitest";

import type { OperationView } from "./api/types";
import { isOver, operationRoute, pathsOf } from "./operation";

const step = (result?: unknown): OperationView["steps"][number] => ({
  name: "restore",
  state: "succeeded",
  message: "",
  ...(result !== undefined && { result }),
});

test("an operation is over when nothing more comes of it", () => {
  expect((["pending", "running"] as const).some((state) => isOver({ state }))).toBe(false);
  expect((["succeeded", "failed", "cancelled"] as const).every((state) => isOver({ state }))).toBe(
    true,
  );
});

test("an operation is shown by what was told of it", () => {
  expect(operationRoute("o", "lab")).toEqual({
    page: "events",
    project: "lab",
    isGlobal: true,
    object: "operation",
    id: "o",
  });
});

test("paths are found in the results of steps, where there are any", () => {
  const one = { path: "/etc/hosts", why: "other content" };
  expect(pathsOf({ steps: [step(), step(null), step({ changes: [one] })] }, "changes")).toEqual([
    one,
  ]);
  expect(pathsOf({ steps: [step({ changes: [one] }), step("words")] }, "troubles")).toEqual([]);
  const change = { what: "nginx.service", before: "dead", after: "running" };
  expect(pathsOf({ steps: [step({ changes: [change, "words", one] })] }, "changes")).toEqual([one]);
});
