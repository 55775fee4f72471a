// States, amounts and times in words. Every state has a word and an icon, so that colour never says
// anything alone.

import type { Exit, NodeState, NodeView, TaskStateKind, TaskView } from "./api/types";

export type Tone = "good" | "busy" | "wait" | "bad" | "muted" | "odd";
export interface Look {
  word: string;
  icon:
    | "alert"
    | "arrow"
    | "check"
    | "clock"
    | "cross"
    | "pause"
    | "play"
    | "plug"
    | "question"
    | "repeat"
    | "stop"
    | "trash";
  tone: Tone;
}

export const TASK_STATES: Record<TaskStateKind, Look> = {
  pending_approval: { word: "Awaits approval", icon: "question", tone: "wait" },
  rejected: { word: "Rejected", icon: "cross", tone: "muted" },
  pending: { word: "Pending", icon: "clock", tone: "wait" },
  assigning: { word: "Assigning", icon: "arrow", tone: "wait" },
  running: { word: "Running", icon: "play", tone: "busy" },
  paused: { word: "Paused", icon: "pause", tone: "wait" },
  completed: { word: "Completed", icon: "check", tone: "good" },
  failed: { word: "Failed", icon: "cross", tone: "bad" },
  killed: { word: "Killed", icon: "stop", tone: "muted" },
  killed_oom: { word: "Out of memory", icon: "alert", tone: "bad" },
  stopped: { word: "Stopped", icon: "stop", tone: "muted" },
  lost: { word: "Lost", icon: "question", tone: "odd" },
};

export const NODE_STATES: Record<NodeState, Look> = {
  joined: { word: "Joined", icon: "plug", tone: "wait" },
  online: { word: "Online", icon: "check", tone: "good" },
  stale: { word: "Stale", icon: "clock", tone: "wait" },
  offline: { word: "Offline", icon: "cross", tone: "bad" },
  removed: { word: "Removed", icon: "stop", tone: "muted" },
};

export const TASK_STATE_KINDS = Object.keys(TASK_STATES) as TaskStateKind[];

const SETTLED: readonly TaskStateKind[] = [
  "rejected",
  "completed",
  "failed",
  "killed",
  "killed_oom",
  "stopped",
  "lost",
];

export function isSettled(state: TaskStateKind): boolean {
  return SETTLED.includes(state);
}

export function taskLook(task: TaskView): Look {
  if (task.status.isStopping && !isSettled(task.status.state))
    return { word: "Stopping", icon: "stop", tone: "wait" };
  return TASK_STATES[task.status.state];
}

export function cordonLook(node: NodeView): Look | undefined {
  if (!node.cordon) return undefined;
  return { word: node.cordon.isDraining ? "Draining" : "Cordoned", icon: "pause", tone: "wait" };
}

/** `850 ms`, `12 s`, `3 m 05 s`, `2 h 10 m`, `4 d 3 h`. */
export function length(ms: number): string {
  if (ms < 0) return "0 s";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  const two = (n: number): string => String(n).padStart(2, "0");
  if (minutes < 60) return `${minutes} m ${two(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${two(minutes % 60)} m`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** How long ago, roughly: `just now`, `12 s ago`, `3 m ago`, `2 h ago`, `4 d ago`. */
export function ago(then: string | null | undefined, now: number): string {
  if (!then) return "never";
  const seconds = Math.floor((now - Date.parse(then)) / 1000);
  if (seconds < 3) return "just now";
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

export function moment(then: string | null | undefined): string {
  if (!then) return "";
  return new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" }).format(
    new Date(then),
  );
}

/** How long a task has run, or ran. */
export function ran(task: TaskView, now: number): string {
  const { timeStarted, timeEnded } = task.status;
  if (!timeStarted || (!timeEnded && isSettled(task.status.state))) return "";
  return length((timeEnded ? Date.parse(timeEnded) : now) - Date.parse(timeStarted));
}

/** Bytes: a server always writes a number; the contract lets people write `512MiB` too. */
export type Amount = number | string;

export function bytes(amount: Amount): string {
  let value = Number(amount);
  for (const unit of ["B", "KiB", "MiB", "GiB"]) {
    if (value < 1024) return `${trim(value)} ${unit}`;
    value /= 1024;
  }
  return `${trim(value)} TiB`;
}

export function degrees(celsius: number): string {
  return `${trim(celsius)} °C`;
}

function trim(value: number): string {
  return String(Number(value.toFixed(value < 10 ? 1 : 0)));
}

export function share(part: Amount, whole: Amount): number {
  const [used, all] = [Number(part), Number(whole)];
  return all > 0 ? Math.min(1, Math.max(0, used / all)) : 0;
}

/** The short form of how a run ended: `0`, `3`, `SIG 9`. */
export function exitShort(exit: Exit | null | undefined): string {
  if (!exit) return "";
  if (typeof exit.code === "number") return String(exit.code);
  if (typeof exit.signal === "number") return `signal ${exit.signal}`;
  return exit.reason.replaceAll("-", " ");
}
