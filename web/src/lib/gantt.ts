// When each step of an execution ran, as bars over one stretch of time.

import type { ExecutionStepView } from "./api/types";
import { length, type Tone } from "./words";
import { stepLook } from "./workflow";

export interface Bar {
  name: string;
  /** From 0 to 100. */
  from: number;
  width: number;
  tone: Tone;
  /** How long it took, in words. */
  took: string;
}

export interface Tick {
  at: number;
  word: string;
}

export interface Gantt {
  bars: Bar[];
  ticks: Tick[];
}

/** Narrower than this nobody would see it. */
const LEAST = 0.6;
const TICKS = 6;
const SECOND = 1000;
const [MINUTE, HOUR, DAY] = [60 * SECOND, 3600 * SECOND, 86_400 * SECOND];
const DISTANCES = [
  ...[100, 200, 500],
  ...[1, 2, 5, 10, 20, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 20, 30].map((n) => n * MINUTE),
  ...[1, 2, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 30, 365].map((n) => n * DAY),
];

/** Steps that have not begun have no bar. */
export function gantt(steps: readonly ExecutionStepView[], now: number): Gantt {
  const begun = steps.flatMap((step) => {
    if (!step.timeStarted) return [];
    const from = Date.parse(step.timeStarted);
    const to = step.timeEnded ? Date.parse(step.timeEnded) : now;
    return [{ step, from, to: Math.max(from, to) }];
  });
  if (begun.length === 0) return { bars: [], ticks: [] };
  const first = Math.min(...begun.map(({ from }) => from));
  const last = Math.max(...begun.map(({ to }) => to), first + 1);
  const share = (time: number): number => (100 * (time - first)) / (last - first);
  return {
    bars: begun.map(({ step, from, to }) => {
      const width = Math.max(LEAST, share(to) - share(from));
      return {
        name: step.name,
        from: Math.min(share(from), 100 - width),
        width,
        tone: stepLook(step).tone,
        took: length(to - from),
      };
    }),
    ticks: ticksOf(last - first),
  };
}

function ticksOf(span: number): Tick[] {
  const distance = DISTANCES.find((one) => span / one <= TICKS) ?? span;
  const count = Math.floor(span / distance);
  return Array.from({ length: count + 1 }, (_, i) => ({
    at: (100 * i * distance) / span,
    word: i === 0 ? "0" : roundLength(i * distance),
  }));
}

/** `500 ms`, `20 s`, `1 m 30 s`, `2 h`: without what is nothing. */
export function roundLength(ms: number): string {
  const parts: string[] = [];
  let left = ms;
  for (const [size, unit] of [
    [DAY, "d"],
    [HOUR, "h"],
    [MINUTE, "m"],
    [SECOND, "s"],
    [1, "ms"],
  ] as const) {
    const whole = Math.floor(left / size);
    left -= whole * size;
    if (whole > 0) parts.push(`${whole} ${unit}`);
  }
  return parts.slice(0, 2).join(" ");
}
