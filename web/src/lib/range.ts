// The indexes of an array: `1-10000`, `0-99:5`, `1,4,7-9`, each with `%50` for at most fifty at once.

import type { Read } from "./fields";

export interface ArrayRange {
  text: string;
  count: number;
  atOnce: number | undefined;
}

const MOST = 1_000_000;
const LARGEST = 2 ** 31 - 1;

export function readRange(text: string): Read<ArrayRange> {
  const wrong = (what: string): Read<ArrayRange> => ({
    ok: false,
    error: `${what}; write for example 1-100, 0-99:5, 1,4,7-9 or 1-1000%50.`,
  });
  const plain = text.replaceAll(/\s/g, "");
  const [ranges = "", limit, ...more] = plain.split("%");
  if (more.length > 0 || (limit !== undefined && !/^0*[1-9][0-9]{0,8}$/.test(limit)))
    return wrong("After “%” stands how many at once");
  const parts: { first: number; last: number; step: number }[] = [];
  for (const part of ranges.split(",")) {
    const found = /^([0-9]{1,10})(?:-([0-9]{1,10}))?(?::([0-9]{1,10}))?$/.exec(part);
    if (!found) return wrong("Indexes are whole numbers from 0 on");
    const first = Number(found[1]);
    const last = Number(found[2] ?? found[1]);
    const step = Number(found[3] ?? 1);
    if (step === 0) return wrong("A step is at least 1");
    if (last < first) return wrong("A range ends before it begins");
    if (last > LARGEST) return wrong(`An index is at most ${LARGEST}`);
    parts.push({ first, last, step });
  }
  const count = parts.reduce(
    (sum, { first, last, step }) => sum + Math.floor((last - first) / step) + 1,
    0,
  );
  if (count > MOST) return wrong("An array has at most a million tasks");
  if (parts.length > 1) {
    const seen = new Set<number>();
    for (const { first, last, step } of parts)
      for (let index = first; index <= last; index += step) seen.add(index);
    if (seen.size < count) return wrong("An index is named twice");
  }
  const atOnce = limit === undefined ? undefined : Number(limit);
  return { ok: true, value: { text: plain, count, atOnce } };
}

/** `10,000 tasks, at most 50 at once`. */
export function rangeWords({ count, atOnce }: ArrayRange): string {
  const tasks = `${count.toLocaleString("en")} task${count === 1 ? "" : "s"}`;
  return atOnce === undefined ? tasks : `${tasks}, at most ${atOnce.toLocaleString("en")} at once`;
}
