import { expect, test } from "vitest";

import { draw, pointAt, pointsOf, roundUp } from "./chart";

const sample = (second: number, cpu: number): { time: string; seconds: number; cpu: number } => ({
  time: new Date(second * 1000).toISOString(),
  seconds: 10,
  cpu,
});

test("samples become a line over their stretches", () => {
  const points = pointsOf([sample(10, 0), sample(20, 1)], ({ cpu }) => cpu);
  expect(draw(points, 0, 20_000, 1)).toEqual({
    line: "M0 100L300 100L600 0",
    area: "M0 100L0 100L300 100L600 0L600 100Z",
    top: 1,
  });
});

test("what was not measured breaks the line", () => {
  const points = pointsOf(
    [sample(10, 1), sample(20, 1), sample(90, 1), sample(100, 1)],
    (s) => s.cpu,
  );
  expect(draw(points, 0, 100_000, 1).line.match(/M/g)).toHaveLength(2);
});

test("what lies before the shown time is cut off", () => {
  const points = pointsOf([sample(10, 1), sample(25, 1), sample(30, 1)], (s) => s.cpu);
  expect(draw(points, 20_000, 30_000, 2).line).toBe("M0 50L300 50L600 50");
});

test("samples without the figure are left out", () => {
  expect(pointsOf([sample(10, 1)], () => null)).toEqual([]);
  expect(pointsOf([{ seconds: 1 }], () => 1)).toEqual([]);
});

test("the moment under the pointer", () => {
  const points = pointsOf([sample(10, 1), sample(20, 2)], (s) => s.cpu);
  expect(pointAt(points, 15_000)?.value).toBe(2);
  expect(pointAt(points, 35_000)).toBeUndefined();
});

test.each([
  [0, 1],
  [0.03, 0.05],
  [1, 1],
  [1.2, 2],
  [37, 50],
  [120, 200],
])("roundUp(%d)", (value, top) => expect(roundUp(value)).toBeCloseTo(top));

test("bytes are rounded to powers of two", () => {
  expect(roundUp(300 * 2 ** 20, true)).toBe(512 * 2 ** 20);
  expect(roundUp(2 ** 30, true)).toBe(2 ** 30);
});
