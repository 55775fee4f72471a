import { describe, expect, test } from "vitest";

import { BOX_HEIGHT, BOX_WIDTH, type Box, fitting, type GraphStep, layout, rising } from "./graph";

function step(name: string, ...dependsOn: string[]): GraphStep {
  return { name, dependsOn };
}

function box(boxes: Box[], name: string): Box {
  const found = boxes.find((one) => one.name === name);
  if (!found) throw new Error(`there is no box ${name}`);
  return found;
}

function overlaps(a: Box, b: Box): boolean {
  return Math.abs(a.x - b.x) < BOX_WIDTH && Math.abs(a.y - b.y) < BOX_HEIGHT;
}

const RELEASE = [
  step("build"),
  step("test", "build"),
  step("lint", "build"),
  step("pack", "test", "lint"),
  step("publish", "pack", "build"),
];

describe("a graph of steps", () => {
  test("is nothing where there are no steps", () => {
    expect(layout([])).toMatchObject({ boxes: [], lines: [] });
  });

  test("has every step to the right of what it comes after", () => {
    const { boxes, lines } = layout(RELEASE);
    expect(boxes.map(({ name, column }) => [name, column])).toEqual([
      ["build", 0],
      ["test", 1],
      ["lint", 1],
      ["pack", 2],
      ["publish", 3],
    ]);
    expect(lines).toHaveLength(6);
    for (const { from, to } of lines) expect(box(boxes, from).x).toBeLessThan(box(boxes, to).x);
  });

  test("puts what is joined to several between them", () => {
    const { boxes } = layout(RELEASE.slice(0, 4));
    const [build, test, lint, pack] = ["build", "test", "lint", "pack"].map((name) =>
      box(boxes, name),
    ) as [Box, Box, Box, Box];
    expect(test.y).toBeLessThan(lint.y);
    expect(build.y).toBeCloseTo((test.y + lint.y) / 2);
    expect(pack.y).toBeCloseTo((test.y + lint.y) / 2);
  });

  test("has straight lines where a chain can have them", () => {
    const { boxes, lines } = layout([step("a"), step("b", "a"), step("c", "b")]);
    expect(new Set(boxes.map(({ y }) => y)).size).toBe(1);
    expect(lines.map(({ from, to }) => `${from}>${to}`)).toEqual(["a>b", "b>c"]);
  });

  test("leads a long line around the boxes that it passes", () => {
    const { boxes, lines } = layout([step("a"), step("b", "a"), step("c", "a", "b")]);
    const long = lines.find(({ from, to }) => from === "a" && to === "c");
    const level = Number(/([\d.]+)H/.exec(long?.path ?? "")?.[1]);
    const passed = box(boxes, "b");
    expect(level < passed.y || level > passed.y + BOX_HEIGHT).toBe(true);
  });

  test("crosses no lines where an order without crossings is at hand", () => {
    const { boxes } = layout([
      step("a"),
      step("b"),
      step("c"),
      step("of-c", "c"),
      step("of-b", "b"),
      step("of-a", "a"),
    ]);
    const order = ["of-a", "of-b", "of-c"].map((name) => box(boxes, name).y);
    expect(order).toEqual(order.toSorted((x, y) => x - y));
  });

  test("tells what only comes after a failure from the rest, and one line from its double", () => {
    const { lines } = layout([
      step("deploy"),
      { name: "undo", dependsOn: ["deploy", "deploy"], afterFailureOf: ["deploy"] },
      { name: "alarm", afterFailureOf: ["deploy"] },
    ]);
    expect(lines.map(({ to, isFailure }) => [to, isFailure])).toEqual([
      ["undo", false],
      ["alarm", true],
    ]);
  });

  test("passes over what is not there and over circles", () => {
    const { boxes, lines } = layout([
      step("a", "nobody", "a"),
      step("b", "c"),
      step("c", "b"),
      step("d", "a"),
    ]);
    expect(boxes).toHaveLength(4);
    expect(lines.map(({ from, to }) => `${from}>${to}`)).toEqual(["c>b", "b>c", "a>d"]);
  });

  test("has no two boxes on one another and none outside, however wide it is", () => {
    const wide = Array.from({ length: 120 }, (_, i) =>
      step(`s${i}`, ...(i < 10 ? [] : [`s${i % 10}`, `s${Math.floor(i / 2)}`])),
    );
    const { boxes, width, height } = layout(wide);
    for (const one of boxes) {
      expect(one.x).toBeGreaterThanOrEqual(0);
      expect(one.y).toBeGreaterThanOrEqual(0);
      expect(one.x + BOX_WIDTH).toBeLessThanOrEqual(width);
      expect(one.y + BOX_HEIGHT).toBeLessThanOrEqual(height);
      for (const other of boxes) if (one !== other) expect(overlaps(one, other)).toBe(false);
    }
  });
});

test("the nearest numbers that never fall", () => {
  expect(rising([1, 2, 3])).toEqual([1, 2, 3]);
  expect(rising([3, 1, 2])).toEqual([2, 2, 2]);
  expect(rising([0, 5, 1, 9])).toEqual([0, 3, 3, 9]);
  expect(rising([])).toEqual([]);
});

test("a name is cut where it does not fit", () => {
  expect(fitting("build", 5)).toBe("build");
  expect(fitting("deploy to all", 8)).toBe("deploy…");
  expect(fitting("🐎🐎🐎", 2)).toBe("🐎…");
});
