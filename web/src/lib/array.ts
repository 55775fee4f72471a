// Arrays in words and as bars: how many of their tasks stand where.

import type { ArrayView, TaskStateKind, TaskView } from "./api/types";
import { TASK_STATE_KINDS, TASK_STATES, type Look, type Tone } from "./words";

export interface Count {
  state: TaskStateKind;
  count: number;
}

/** In the order in which a bar shows them: what ended well, what ended badly, what goes on, what waits. */
const BAR_ORDER: readonly TaskStateKind[] = [
  "completed",
  "failed",
  "killed_oom",
  "lost",
  "stopped",
  "killed",
  "rejected",
  "running",
  "paused",
  "assigning",
  "pending",
  "pending_approval",
];

/** States of tasks that somebody may want to look at and try again. */
export const UNWELL: readonly TaskStateKind[] = ["failed", "killed_oom", "lost", "stopped"];

export function countsOf(counts: Record<string, number>): Count[] {
  return TASK_STATE_KINDS.map((state) => ({ state, count: counts[state] ?? 0 })).filter(
    ({ count }) => count > 0,
  );
}

export interface Segment extends Count {
  /** From 0 to 100, so that all of them together fill the bar. */
  from: number;
  width: number;
  tone: Tone;
}

/** Narrower than this nobody would see it. */
const LEAST = 1;

export function segments(counts: Record<string, number>, size: number): Segment[] {
  const shown = BAR_ORDER.filter(
    (state) => (counts[state] ?? 0) > 0 && state !== "pending" && state !== "pending_approval",
  ).map((state) => {
    const count = counts[state] ?? 0;
    return { state, count, width: size > 0 ? Math.max(LEAST, (100 * count) / size) : 0 };
  });
  const whole = Math.max(
    100,
    shown.reduce((sum, { width }) => sum + width, 0),
  );
  let from = 0;
  return shown.map(({ state, count, width }) => {
    const part = (100 * width) / whole;
    from += part;
    return { state, count, from: from - part, width: part, tone: TASK_STATES[state].tone };
  });
}

export function arrayLook(array: ArrayView): Look {
  if (array.isStopping) return { word: "Stopping", icon: "stop", tone: "wait" };
  if (array.unsettled > 0) {
    const { running = 0, assigning = 0, paused = 0 } = array.counts;
    if (running + assigning > 0) return TASK_STATES.running;
    return paused > 0 ? TASK_STATES.paused : TASK_STATES.pending;
  }
  if (array.unsuccessful === 0) return TASK_STATES.completed;
  return UNWELL.some((state) => (array.counts[state] ?? 0) > 0)
    ? TASK_STATES.failed
    : TASK_STATES.killed;
}

export function ended(array: ArrayView): number {
  return Math.max(0, array.size - array.unsettled);
}

/** `4,711 of 10,000 ended: 4,702 completed, 9 failed, 50 running, 5,239 pending`. */
export function progressWords(array: ArrayView): string {
  const said = BAR_ORDER.flatMap((state) => {
    const count = array.counts[state] ?? 0;
    return count > 0 ? [`${number(count)} ${TASK_STATES[state].word.toLowerCase()}`] : [];
  });
  return `${number(ended(array))} of ${number(array.size)} ended: ${said.join(", ")}`;
}

export function number(value: number): string {
  return value.toLocaleString("en");
}

/** The name of the array a task belongs to: tasks of an array are named after it and their index. */
export function arrayName(task: TaskView): string | undefined {
  if (!task.array) return undefined;
  const tail = `-${task.array.index}`;
  return task.name.endsWith(tail) ? task.name.slice(0, -tail.length) : task.array.array;
}

export function isOfArray(task: TaskView, array: string): boolean {
  return task.array?.array === array || arrayName(task) === array;
}
