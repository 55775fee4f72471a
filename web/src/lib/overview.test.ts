import { expect, test } from "vitest";

import type { Figure, FigureUnit, Finding, MetricsHistoryView } from "./api/types";
import {
  columnPoints,
  drawingsOf,
  figureText,
  figureWords,
  hintOf,
  isOverviewRange,
  metricsCommand,
  sorted,
} from "./overview";

function history(series: [Figure, FigureUnit, (number | null)[]][]): MetricsHistoryView {
  return {
    serverId: "0199e9a1-8c54-7f7e-8000-000000000000",
    times: ["2026-01-01T00:00:10Z", "2026-01-01T00:00:20Z"],
    seconds: [10, 10],
    series: series.map(([name, unit, values]) => ({ name, unit, values })),
  };
}

const START = Date.parse("2026-01-01T00:00:00Z");

test("columns become points, and figures are added up where all of them were measured", () => {
  const held = history([
    ["nodes.stale", "count", [1, 2]],
    ["nodes.offline", "count", [3, null]],
  ]);
  expect(columnPoints(held, ["nodes.stale", "nodes.offline"])).toEqual([
    { from: START, to: START + 10_000, value: 4 },
  ]);
  expect(columnPoints(held, ["nodes.stale"])).toHaveLength(2);
  expect(columnPoints(held, ["cpu.used"])).toEqual([]);
});

test("what was measured is drawn in its group, with the whole of it", () => {
  const groups = drawingsOf(
    history([
      ["memory.used", "bytes", [2 ** 30, 2 ** 30]],
      ["memory.total", "bytes", [2 ** 32, 2 ** 33]],
      ["tasks.running", "count", [0, 0]],
    ]),
  );
  expect(groups.map(({ title }) => title)).toEqual(["Nodes", "Tasks"]);
  expect(groups[0]?.charts).toMatchObject([{ label: "Memory", whole: 2 ** 33 }]);
  expect(groups[1]?.charts).toMatchObject([{ label: "Running", whole: undefined, least: 1 }]);
});

test("no chart of GPUs where there are none", () => {
  const of = (used: number): number =>
    drawingsOf(history([["gpu.used", "count", [0, used]]])).length;
  expect(of(0)).toBe(0);
  expect(of(1)).toBe(1);
});

test("a figure that is new here is drawn all the same", () => {
  const groups = drawingsOf(history([["hooks.given-up" as Figure, "count", [1, 2]]]));
  expect(groups).toMatchObject([{ title: "Others", charts: [{ label: "Hooks: given up" }] }]);
  expect(figureWords("state.entries")).toBe("State: entries");
});

test.each<[number, FigureUnit, string]>([
  [0, "count", "0"],
  [1234, "count", "1,234"],
  [2.345, "cores", "2.3 cores"],
  [1, "cores", "1 core"],
  [0.0456, "per-second", "0.046 /s"],
  [312.4, "per-second", "312 /s"],
  [0.00042, "seconds", "0.42 ms"],
  [0.042, "seconds", "42 ms"],
  [75, "seconds", "1 m 15 s"],
  [3 * 2 ** 30, "bytes", "3 GiB"],
])("%s in %s is %s", (value, unit, words) => {
  expect(figureText(value, unit)).toBe(words);
});

test("what needs somebody comes first, the worst of it at the top", () => {
  const found = (check: string, severity: Finding["severity"]): Finding => ({
    check,
    severity,
    what: "",
  });
  const { bad, good } = sorted({
    worst: "critical",
    findings: [
      found("a", "ok"),
      found("b", "notice"),
      found("c", "critical"),
      found("d", "warning"),
      found("e", "ok"),
    ],
  });
  expect(bad.map(({ check }) => check)).toEqual(["c", "d", "b"]);
  expect(good.map(({ check }) => check)).toEqual(["a", "e"]);
});

test("a hint is words, and commands that can be copied, each once", () => {
  expect(hintOf("look at the disk; hostler backup schedule --now; hostler backup ls")).toEqual({
    words: "look at the disk",
    commands: ["hostler backup schedule --now", "hostler backup ls"],
  });
  expect(hintOf("hostler queue; hostler task explain TASK says why; hostler queue")).toEqual({
    words: "hostler task explain TASK says why",
    commands: ["hostler queue"],
  });
  expect(hintOf("restart this server, and report it").commands).toEqual([]);
  expect(hintOf(undefined)).toEqual({ words: "", commands: [] });
});

test("the command that shows the same", () => {
  expect(metricsCommand("1h")).toBe("hostler metrics");
  expect(metricsCommand("7d")).toBe("hostler metrics --since 7d");
  expect(isOverviewRange("7d")).toBe(true);
  expect(isOverviewRange("8d")).toBe(false);
});
