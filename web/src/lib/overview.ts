// How the installation is and was: its figures over time, and what is wrong with its control plane.

import type {
  DiagnosisView,
  Figure,
  FigureUnit,
  Finding,
  MetricsHistoryView,
  Severity,
} from "./api/types";
import { quoteCommand } from "./argv";
import type { Point } from "./chart";
import { bytes, length, type Look } from "./words";

/** What is offered, in seconds; a server remembers a week. */
export const OVERVIEW_RANGES = {
  "15m": { word: "15 minutes", seconds: 900 },
  "1h": { word: "Hour", seconds: 3600 },
  "6h": { word: "6 hours", seconds: 21_600 },
  "1d": { word: "Day", seconds: 86_400 },
  "7d": { word: "Week", seconds: 604_800 },
} as const;
export type OverviewRange = keyof typeof OVERVIEW_RANGES;
export const DEFAULT_RANGE: OverviewRange = "1h";
export const OVERVIEW_RANGE_NAMES = Object.keys(OVERVIEW_RANGES) as OverviewRange[];

export function isOverviewRange(text: string | null): text is OverviewRange {
  return OVERVIEW_RANGE_NAMES.some((name) => name === text);
}

/** One figure, or the sum of several, to draw. */
export interface FigureChart {
  label: string;
  figures: readonly Figure[];
  /** What there is of it, at most. */
  whole?: Figure;
  /** The scale reaches at least this far. */
  least?: number;
}

export interface FigureGroup {
  title: string;
  charts: readonly FigureChart[];
}

export const FIGURE_GROUPS: readonly FigureGroup[] = [
  {
    title: "Nodes",
    charts: [
      { label: "Online", figures: ["nodes.online"] },
      { label: "Stale or offline", figures: ["nodes.stale", "nodes.offline"] },
      { label: "Processors", figures: ["cpu.used"], whole: "cpu.total" },
      { label: "Memory", figures: ["memory.used"], whole: "memory.total", least: 2 ** 20 },
      { label: "GPUs", figures: ["gpu.used"], whole: "gpu.total" },
    ],
  },
  {
    title: "Tasks",
    charts: [
      { label: "Running", figures: ["tasks.running"] },
      { label: "Waiting", figures: ["tasks.pending", "tasks.assigning"] },
      { label: "Paused", figures: ["tasks.paused"] },
      { label: "Ended", figures: ["tasks.ended"] },
      { label: "Wait for a node", figures: ["queue.wait"] },
      { label: "Longest wait", figures: ["queue.wait-most"] },
    ],
  },
  {
    title: "This server",
    charts: [
      { label: "Requests", figures: ["api.requests"] },
      { label: "Requests not served", figures: ["api.errors"] },
      { label: "Time to answer", figures: ["api.latency"], least: 0.001 },
      { label: "Slowest of twenty", figures: ["api.latency-p95"], least: 0.001 },
    ],
  },
];

/** Of those that are drawn only where there is something of them: not every installation has any. */
const OPTIONAL: ReadonlySet<Figure> = new Set<Figure>(["gpu.used", "tasks.paused"]);

export interface FigureDrawing {
  label: string;
  unit: FigureUnit;
  points: Point[];
  whole: number | undefined;
  least: number;
}

/** The groups with what was measured; figures that no group knows stand by themselves at the end. */
export function drawingsOf(
  history: MetricsHistoryView,
): { title: string; charts: FigureDrawing[] }[] {
  const units = new Map(history.series.map(({ name, unit }) => [name, unit]));
  const drawing = ({ label, figures, whole, least = 0 }: FigureChart): FigureDrawing[] => {
    const unit = units.get(figures[0] as Figure);
    if (unit === undefined) return [];
    const points = columnPoints(history, figures);
    if (figures.some((one) => OPTIONAL.has(one)) && points.every(({ value }) => value === 0))
      return [];
    const all = whole === undefined ? undefined : columnPoints(history, [whole]).at(-1)?.value;
    return [{ label, unit, points, whole: all || undefined, least: least || leastOf(unit) }];
  };
  const known = new Set(
    FIGURE_GROUPS.flatMap(({ charts }) =>
      charts.flatMap(({ figures, whole }) => (whole ? [...figures, whole] : figures)),
    ),
  );
  const others = history.series.map(({ name }) => name).filter((name) => !known.has(name));
  const more = others.map((name) => ({ label: figureWords(name), figures: [name] }));
  return [...FIGURE_GROUPS, { title: "Others", charts: more }]
    .map(({ title, charts }) => ({ title, charts: charts.flatMap(drawing) }))
    .filter(({ charts }) => charts.length > 0);
}

/** The sum of these figures at each stretch; a stretch in which one of them was not measured has none. */
export function columnPoints(history: MetricsHistoryView, figures: readonly Figure[]): Point[] {
  const series = figures.flatMap((name) => history.series.filter((one) => one.name === name));
  if (series.length === 0) return [];
  return history.times.flatMap((time, at) => {
    const to = Date.parse(time);
    const values = series.map((one) => one.values[at] ?? undefined);
    if (Number.isNaN(to) || values.includes(undefined)) return [];
    const value = values.reduce<number>((sum, one) => sum + (one ?? 0), 0);
    return [{ from: to - (history.seconds[at] ?? 0) * 1000, to, value }];
  });
}

/** `webhooks.sent-late` as `Webhooks: sent late`. */
export function figureWords(name: string): string {
  const words = name.replaceAll("-", " ").replace(".", ": ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function leastOf(unit: FigureUnit): number {
  return unit === "count" || unit === "cores" ? 1 : unit === "per-second" ? 0.1 : 0;
}

export function figureText(value: number, unit: FigureUnit): string {
  if (unit === "bytes") return bytes(value);
  if (unit === "seconds") return value < 0.01 && value > 0 ? small(value) : length(value * 1000);
  const short = String(Number(value < 10 ? value.toPrecision(2) : value.toFixed(0)));
  if (unit === "per-second") return `${short} /s`;
  if (unit === "cores") return `${short} ${short === "1" ? "core" : "cores"}`;
  return value < 1000 ? short : Math.round(value).toLocaleString("en");
}

function small(seconds: number): string {
  return `${Number((seconds * 1000).toPrecision(2))} ms`;
}

export const SEVERITIES: Record<Severity, Look> = {
  critical: { word: "Critical", icon: "alert", tone: "bad" },
  warning: { word: "Warning", icon: "alert", tone: "wait" },
  notice: { word: "Notice", icon: "question", tone: "muted" },
  ok: { word: "OK", icon: "check", tone: "good" },
};
const WORST_FIRST = Object.keys(SEVERITIES) as Severity[];

/** What needs somebody, the worst first, and what is well. */
export function sorted({ findings }: DiagnosisView): { bad: Finding[]; good: Finding[] } {
  const rank = ({ severity }: Finding): number => WORST_FIRST.indexOf(severity);
  return {
    bad: findings
      .filter(({ severity }) => severity !== "ok")
      .toSorted((one, other) => rank(one) - rank(other)),
    good: findings.filter(({ severity }) => severity === "ok"),
  };
}

/** A hint in words, and those commands of it that can be copied as they are: with nothing to fill in. */
export function hintOf(next: string | undefined): { words: string; commands: string[] } {
  const parts = (next ?? "")
    .split(";")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  const isCommand = (part: string): boolean =>
    /^hostler( [a-z][a-z-]*){1,3}( --[a-z-]+)*$/.test(part);
  return {
    words: parts.filter((part) => !isCommand(part)).join("; "),
    commands: [...new Set(parts.filter(isCommand))],
  };
}

export function metricsCommand(range: OverviewRange): string {
  return quoteCommand(["hostler", "metrics", ...(range === "1h" ? [] : ["--since", range])]);
}
