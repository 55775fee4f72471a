import { expect, test } from "vitest";

import type { ExecutionStepView } from "./api/types";
import { gantt, roundLength } from "./gantt";

const START = Date.parse("2026-01-31T12:00:00Z");

function step(name: string, from?: number, to?: number): ExecutionStepView {
  const at = (seconds: number): string => new Date(START + seconds * 1000).toISOString();
  return {
    name,
    status: to === undefined ? (from === undefined ? "waiting" : "running") : "succeeded",
    standing: "waiting",
    tries: 1,
    dependsOn: [],
    ...(from !== undefined && { timeStarted: at(from) }),
    ...(to !== undefined && { timeEnded: at(to) }),
  };
}

test("bars share one stretch of time, and what runs goes on until now", () => {
  const { bars, ticks } = gantt([step("a", 0, 10), step("b", 10), step("c")], START + 40_000);
  expect(bars).toEqual([
    { name: "a", from: 0, width: 25, tone: "good", took: "10 s" },
    { name: "b", from: 25, width: 75, tone: "busy", took: "30 s" },
  ]);
  expect(ticks.map(({ word }) => word)).toEqual(["0", "10 s", "20 s", "30 s", "40 s"]);
  expect(ticks.map(({ at }) => at)).toEqual([0, 25, 50, 75, 100]);
});

test("what took no time is seen, and nothing leaves the stretch", () => {
  const { bars } = gantt([step("a", 0, 3600), step("b", 3600, 3600)], START);
  const [, b] = bars;
  expect(b?.width).toBeGreaterThan(0);
  expect((b?.from ?? 0) + (b?.width ?? 0)).toBeLessThanOrEqual(100);
  const [only] = gantt([step("a", 0, 0)], START).bars;
  expect(only?.from).toBe(0);
});

test("a clock that is behind makes nothing negative", () => {
  const { bars } = gantt([step("a", 5)], START);
  expect(bars[0]?.width).toBeGreaterThan(0);
});

test("nothing has begun", () => {
  expect(gantt([step("a")], START)).toEqual({ bars: [], ticks: [] });
});

test.each([
  [500, "500 ms"],
  [20_000, "20 s"],
  [90_000, "1 m 30 s"],
  [7_200_000, "2 h"],
  [90_061_000, "1 d 1 h"],
])("a round length of %d", (ms, words) => expect(roundLength(ms)).toBe(words));
