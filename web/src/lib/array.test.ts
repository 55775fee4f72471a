import { expect, test } from "vitest";

import type { ArrayView, TaskView } from "./api/types";
import { arrayLook, arrayName, countsOf, isOfArray, progressWords, segments } from "./array";

function array(counts: Record<string, number>, more: Partial<ArrayView> = {}): ArrayView {
  const size = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const { completed = 0, running = 0, pending = 0, paused = 0, assigning = 0 } = counts;
  const unsettled = running + pending + paused + assigning;
  return {
    id: "a",
    name: "sweep",
    project: "default",
    spec: {},
    range: "1-10",
    isGang: false,
    isStopping: false,
    size,
    unsettled,
    unsuccessful: size - unsettled - completed,
    counts,
    createdBy: "ada",
    generation: 1,
    timeCreated: "",
    ...more,
  };
}

test("a bar shows what ended and what goes on, and leaves room for what waits", () => {
  const counts = { pending: 40, running: 10, failed: 10, completed: 40 };
  expect(segments(counts, 100)).toEqual([
    { state: "completed", count: 40, from: 0, width: 40, tone: "good" },
    { state: "failed", count: 10, from: 40, width: 10, tone: "bad" },
    { state: "running", count: 10, from: 50, width: 10, tone: "busy" },
  ]);
  expect(segments({}, 0)).toEqual([]);
});

test("a failure among many is seen, and the bar is not longer for it", () => {
  const parts = segments({ completed: 99_999, failed: 1 }, 100_000);
  expect(parts[1]?.width).toBeGreaterThan(0.9);
  expect((parts[1]?.from ?? 0) + (parts[1]?.width ?? 0)).toBeCloseTo(100);
});

test("progress in words", () => {
  expect(progressWords(array({ completed: 4702, failed: 9, running: 50, pending: 5239 }))).toBe(
    "4,711 of 10,000 ended: 4,702 completed, 9 failed, 50 running, 5,239 pending",
  );
});

test.each<[string, ArrayView]>([
  ["Running", array({ completed: 1, running: 1, pending: 3 })],
  ["Running", array({ assigning: 1 })],
  ["Pending", array({ pending: 3 })],
  ["Paused", array({ paused: 1, pending: 3 })],
  ["Stopping", array({ running: 1 }, { isStopping: true })],
  ["Completed", array({ completed: 3 })],
  ["Failed", array({ completed: 3, killed_oom: 1, killed: 2 })],
  ["Killed", array({ completed: 3, killed: 2 })],
])("an array that is %s", (word, view) => expect(arrayLook(view).word).toBe(word));

test("states that nobody is in are left out, and unknown ones too", () => {
  expect(countsOf({ running: 2, pending: 0, of_tomorrow: 3 })).toEqual([
    { state: "running", count: 2 },
  ]);
});

test("a task is found by its array's name and id", () => {
  const task = { name: "sweep-a-17", array: { array: "id-1", index: 17 } } as TaskView;
  expect(arrayName(task)).toBe("sweep-a");
  expect(isOfArray(task, "sweep-a") && isOfArray(task, "id-1")).toBe(true);
  expect(isOfArray(task, "sweep")).toBe(false);
  expect(arrayName({ name: "sweep-17" } as TaskView)).toBeUndefined();
});
