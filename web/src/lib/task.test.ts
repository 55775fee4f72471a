import { expect, test } from "vitest";

import type { TaskStateKind, TaskView } from "./api/types";
import { queueWords, reservation, retryWords, verbsFor, type TaskVerb } from "./task";

function task(state: TaskStateKind, isStopping = false): TaskView {
  return { status: { state, isStopping, message: "" } } as TaskView;
}

test.each<[TaskStateKind, TaskVerb[]]>([
  ["pending_approval", ["kill"]],
  ["rejected", ["rm"]],
  ["pending", ["pause", "resume", "kill"]],
  ["assigning", ["pause", "kill"]],
  ["running", ["pause", "kill"]],
  ["paused", ["resume", "kill"]],
  ["completed", ["rm"]],
  ["failed", ["retry", "rm"]],
  ["killed", ["retry", "rm"]],
  ["killed_oom", ["retry", "rm"]],
  ["stopped", ["retry", "rm"]],
  ["lost", ["retry", "rm"]],
])("what can be done with a task that is %s", (state, verbs) =>
  expect(verbsFor(task(state))).toEqual(verbs),
);

test("a task that is being stopped is left alone", () => {
  expect(verbsFor(task("running", true))).toEqual([]);
  expect(verbsFor(task("paused", true))).toEqual([]);
});

test("what it holds", () => {
  expect(reservation({})).toBe("0.02 cores");
  expect(
    reservation({
      resources: {
        cores: 4,
        exclusive: true,
        memory: 8 * 2 ** 30,
        disk: 20 * 2 ** 30,
        gpus: { count: 2, model: "A100" },
        numa: 0,
      },
    }),
  ).toBe("4 cores of its own, 8 GiB memory, 20 GiB disk, 2 GPUs, model A100, NUMA node 0");
  expect(reservation({ resources: { cores: 1, numa: "any" } })).toBe("1 core, of one NUMA node");
});

test("how it waits", () => {
  expect(queueWords({})).toEqual([]);
  expect(queueWords({ queue: { priority: -5, delay: "5m", preemptible: true, nodes: 4 } })).toEqual(
    [
      "priority -5",
      "5m after it was submitted",
      "gives way to higher priorities",
      "on 4 nodes at once",
    ],
  );
  expect(
    retryWords({ queue: { retry: { times: 1, delay: "1s", maxDelay: "5m", on: ["lost"] } } }),
  ).toBe("once, after: lost");
  expect(retryWords({})).toBe("");
});
