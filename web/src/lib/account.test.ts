import { expect, test } from "vitest";

import { columnsOf, csv, day, group, hours, isDay, sort, sum } from "./account";
import type { AccountView } from "./api/types";

function line(project: string, user: string, tasks: number, coreHours: number): AccountView {
  const waitSecondsMean = tasks * 10;
  return {
    project,
    user,
    tasks,
    coreHours,
    gpuHours: 0,
    memoryGibHours: 0.1 + 0.2,
    runHours: 1,
    waitSecondsMean,
  };
}

const LINES = [line("lab", "ada", 1, 5), line("lab", "bob", 3, 5), line("web", "ada", 2, 40)];

test("sums weigh a mean wait by its tasks", () => {
  const all = sum(LINES);
  expect([all.tasks, all.coreHours, all.waitSecondsMean]).toEqual([6, 50, 140 / 6]);
  expect(sum([]).waitSecondsMean).toBe(0);
});

test("by project, by user, by both", () => {
  expect(group(LINES, "both")).toEqual(LINES);
  expect(group(LINES, "project").map((one) => [one.project, one.user, one.coreHours])).toEqual([
    ["lab", "", 10],
    ["web", "", 40],
  ]);
  expect(group(LINES, "user").map((one) => [one.user, one.tasks])).toEqual([
    ["ada", 3],
    ["bob", 3],
  ]);
  expect(columnsOf("user").map(({ key }) => key)[0]).toBe("user");
});

test("sorted by any column; equals by name", () => {
  const names = (by: keyof AccountView, isRising: boolean): string[] =>
    sort(LINES, { by, isRising }).map(({ project, user }) => `${project}/${user}`);
  expect(names("coreHours", false)).toEqual(["web/ada", "lab/ada", "lab/bob"]);
  expect(names("coreHours", true)).toEqual(["lab/ada", "lab/bob", "web/ada"]);
  expect(names("user", false)).toEqual(["lab/bob", "lab/ada", "web/ada"]);
});

test("a file for spreadsheets", () => {
  expect(csv([line('a,"b"', "=1+1", 1, 1.5)], "both")).toBe(
    "project,user,tasks,coreHours,gpuHours,memoryGibHours,runHours,waitSecondsMean\r\n" +
      `"a,""b""",'=1+1,1,1.5,0,0.3,1,10\r\n`,
  );
  expect(csv([], "project").split(",")[1]).toBe("tasks");
});

test("hours and days", () => {
  expect([0, 0.001, 1.234, 12.34, 1234.5].map(hours)).toEqual([
    "0",
    "< 0.01",
    "1.23",
    "12.3",
    "1,235",
  ]);
  expect(day(Date.parse("2026-01-31T23:59:59Z"))).toBe("2026-01-31");
  expect(["2026-01-31", "2026-13-01", "soon", "", null].map(isDay)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});
