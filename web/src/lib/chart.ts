// Samples over time as paths to draw. A sample speaks for the stretch that ends at its time; where
// stretches do not meet, the line is broken: nothing was measured there.

import type { UsageSample } from "./api/types";

export interface Point {
  /** Milliseconds. */
  from: number;
  to: number;
  value: number;
}

export interface Drawing {
  line: string;
  area: string;
  /** The value at the top. */
  top: number;
}

export const WIDTH = 600;
export const HEIGHT = 100;
/** Stretches that are further apart than this many of their own lengths do not belong together. */
const APART = 2;

export function pointsOf(
  samples: readonly UsageSample[],
  pick: (sample: UsageSample) => number | string | null | undefined,
): Point[] {
  return samples.flatMap((sample) => {
    const given = pick(sample);
    const to = Date.parse(sample.time ?? "");
    if (given === null || given === undefined || Number.isNaN(to)) return [];
    return [{ from: to - (sample.seconds ?? 0) * 1000, to, value: Number(given) }];
  });
}

/** A round number at or above: 1, 2 or 5 times a power of ten; of bytes, a power of two. */
export function roundUp(value: number, isBytes = false): number {
  if (value <= 0) return 1;
  if (isBytes) return 2 ** Math.ceil(Math.log2(value));
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= value * (1 - 1e-9)) ?? 10;
  return step * power;
}

export function draw(points: readonly Point[], from: number, to: number, top: number): Drawing {
  const x = (time: number): number => round(((time - from) / Math.max(1, to - from)) * WIDTH);
  const y = (value: number): number => round(HEIGHT - (Math.min(value, top) / top) * HEIGHT);
  let line = "";
  let area = "";
  for (const part of parts(points.filter((point) => point.to >= from))) {
    const path = part.map(({ to: time, value }) => `${x(Math.max(from, time))} ${y(value)}`);
    const first = part[0];
    const last = part.at(-1);
    if (!first || !last) continue;
    const begin = x(Math.max(from, first.from));
    line += `M${begin} ${y(first.value)}L${path.join("L")}`;
    area += `M${begin} ${HEIGHT}L${begin} ${y(first.value)}L${path.join("L")}L${x(last.to)} ${HEIGHT}Z`;
  }
  return { line, area, top };
}

/** The point that speaks for a moment. */
export function pointAt(points: readonly Point[], time: number): Point | undefined {
  return points.find((point) => point.to >= time && point.from <= time);
}

function parts(points: readonly Point[]): Point[][] {
  const found: Point[][] = [];
  let before: Point | undefined;
  for (const point of points) {
    const gap = before ? point.from - before.to : Infinity;
    const isJoined = before !== undefined && gap <= APART * Math.max(1, point.to - point.from);
    if (isJoined) found.at(-1)?.push(point);
    else found.push([point]);
    before = point;
  }
  return found;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
