// What was used, as a table: summed, sorted, and written as a file that spreadsheets read.

import type { AccountView } from "./api/types";

export type Grouping = "both" | "project" | "user";
export type Column = keyof AccountView;
export interface Sorting {
  by: Column;
  isRising: boolean;
}

export const COLUMNS: readonly { key: Column; word: string; unit: string }[] = [
  { key: "project", word: "Project", unit: "" },
  { key: "user", word: "User", unit: "" },
  { key: "tasks", word: "Tasks", unit: "tasks" },
  { key: "coreHours", word: "Core-hours", unit: "hours" },
  { key: "gpuHours", word: "GPU-hours", unit: "hours" },
  { key: "memoryGibHours", word: "Memory, GiB-hours", unit: "hours" },
  { key: "runHours", word: "Ran, hours", unit: "hours" },
  { key: "waitSecondsMean", word: "Mean wait", unit: "seconds" },
];

export function columnsOf(grouping: Grouping): typeof COLUMNS {
  return COLUMNS.filter(
    ({ key }) =>
      !(grouping === "project" && key === "user") && !(grouping === "user" && key === "project"),
  );
}

/** Adds lines up; a mean wait weighs as many tasks as it stands for. */
export function sum(lines: readonly AccountView[], project = "", user = ""): AccountView {
  const add = (pick: (line: AccountView) => number): number =>
    lines.reduce((total, line) => total + pick(line), 0);
  const tasks = add((line) => line.tasks);
  return {
    project,
    user,
    tasks,
    coreHours: add((line) => line.coreHours),
    gpuHours: add((line) => line.gpuHours),
    memoryGibHours: add((line) => line.memoryGibHours),
    runHours: add((line) => line.runHours),
    waitSecondsMean: tasks > 0 ? add((line) => line.waitSecondsMean * line.tasks) / tasks : 0,
  };
}

export function group(lines: readonly AccountView[], grouping: Grouping): AccountView[] {
  if (grouping === "both") return [...lines];
  const held = new Map<string, AccountView[]>();
  for (const line of lines) held.set(line[grouping], [...(held.get(line[grouping]) ?? []), line]);
  return [...held].map(([key, own]) =>
    grouping === "project" ? sum(own, key, "") : sum(own, "", key),
  );
}

export function sort(lines: readonly AccountView[], { by, isRising }: Sorting): AccountView[] {
  const compare = (a: AccountView, b: AccountView): number => {
    const [left, right] = [a[by], b[by]];
    const order =
      typeof left === "number" && typeof right === "number"
        ? left - right
        : String(left).localeCompare(String(right));
    if (order !== 0) return isRising ? order : -order;
    return `${a.project}/${a.user}`.localeCompare(`${b.project}/${b.user}`);
  };
  return [...lines].sort(compare);
}

/** Comma-separated values with one line of headings, lines ended as RFC 4180 wants them. */
export function csv(lines: readonly AccountView[], grouping: Grouping): string {
  const columns = columnsOf(grouping);
  const rows = lines.map((line) => columns.map(({ key }) => cell(line[key])));
  return [columns.map(({ key }) => key), ...rows].map((row) => row.join(",") + "\r\n").join("");
}

function cell(value: string | number): string {
  if (typeof value === "number") return String(Math.round(value * 1e6) / 1e6);
  // A spreadsheet takes what begins so for a formula.
  const plain = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

export function hours(value: number): string {
  if (value === 0) return "0";
  if (value < 0.01) return "< 0.01";
  return value.toLocaleString("en", {
    maximumFractionDigits: value < 10 ? 2 : value < 1000 ? 1 : 0,
  });
}

/** The day of a moment, as the API takes it (UTC). */
export function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

export function isDay(text: string | null | undefined): text is string {
  return (
    typeof text === "string" && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))
  );
}
