// Tasks: what can be done with them, what they hold and what they wait for, in words.

import type { Permission, TaskStateKind, TaskView, WorkloadSpec } from "./api/types";
import { gpusWords } from "./gpus";
import { bytes, isSettled } from "./words";

export type TaskVerb = "pause" | "resume" | "retry" | "kill" | "rm";

/** What each needs on a task of one's own. */
export const PERMISSIONS = {
  pause: "task.pause",
  resume: "task.pause",
  retry: "task.retry",
  kill: "task.kill",
  rm: "task.remove",
} as const satisfies Record<TaskVerb, Permission>;

const RETRIED: readonly TaskStateKind[] = ["failed", "killed", "killed_oom", "stopped", "lost"];
const PAUSED: readonly TaskStateKind[] = ["pending", "assigning", "running"];
// Whether a task that waits is held back is not told; letting one go on that was not changes nothing.
const RESUMED: readonly TaskStateKind[] = ["pending", "paused"];

export function verbsFor({ status }: TaskView): TaskVerb[] {
  const { state, isStopping } = status;
  const verbs: TaskVerb[] = [];
  if (!isStopping && PAUSED.includes(state)) verbs.push("pause");
  if (!isStopping && RESUMED.includes(state)) verbs.push("resume");
  if (RETRIED.includes(state)) verbs.push("retry");
  if (!isSettled(state) && !isStopping) verbs.push("kill");
  if (isSettled(state)) verbs.push("rm");
  return verbs;
}

/** `4 cores of its own, 8 GiB memory, 2 GPUs, NUMA node 1`. */
export function reservation(spec: WorkloadSpec): string {
  const { cores = 0.02, exclusive, memory, disk, gpus, numa } = spec.resources ?? {};
  const words = [`${cores} core${cores === 1 ? "" : "s"}${exclusive ? " of its own" : ""}`];
  if (memory) words.push(`${bytes(memory)} memory`);
  if (disk) words.push(`${bytes(disk)} disk`);
  const devices = gpusWords(gpus);
  if (devices) words.push(devices);
  if (numa !== undefined && numa !== null)
    words.push(numa === "any" ? "of one NUMA node" : `NUMA node ${numa}`);
  return words.join(", ");
}

/** How it waits for its turn, apart from what it waits for. */
export function queueWords(spec: WorkloadSpec): string[] {
  const { priority, delay, startWithin, preemptible, nodes } = spec.queue ?? {};
  const words: string[] = [];
  if (priority) words.push(`priority ${priority}`);
  if (delay) words.push(`${delay} after it was submitted`);
  if (startWithin) words.push(`given up after ${startWithin}`);
  if (preemptible) words.push("gives way to higher priorities");
  if (nodes) words.push(`on ${nodes} nodes at once`);
  return words;
}

/** `up to 3 times, after: failed, timed out, lost`. */
export function retryWords(spec: WorkloadSpec): string {
  const { times = 0, on = ["failed", "timed-out", "lost"] } = spec.queue?.retry ?? {};
  if (times === 0) return "";
  const ends = on.map((end) => end.replaceAll("-", " ")).join(", ");
  return `${times === 1 ? "once" : `up to ${times} times`}, after: ${ends}`;
}

export function afterWords(condition: "ok" | "any" | "fail" | undefined): string {
  return { ok: "has completed", any: "has ended", fail: "has failed" }[condition ?? "ok"];
}
