// Workloads in words: how they stand, how often they run, what can be done with them, and which of
// them a filter lets through.

import type {
  Exit,
  Health,
  Permission,
  Phase,
  PlacementView,
  WorkloadPhase,
  WorkloadRunView,
  WorkloadSpec,
  WorkloadView,
} from "./api/types";
import { quoteCommand } from "./argv";
import { exactBytes } from "./fields";
import { exitShort, length, type Look, moment, type Tone } from "./words";

export const WORKLOAD_PHASES: Record<WorkloadPhase, Look> = {
  running: { word: "Running", icon: "play", tone: "good" },
  "partly-running": { word: "Partly running", icon: "play", tone: "wait" },
  starting: { word: "Starting", icon: "arrow", tone: "busy" },
  pending: { word: "Pending", icon: "clock", tone: "wait" },
  waiting: { word: "Waiting", icon: "clock", tone: "wait" },
  backoff: { word: "Backoff", icon: "repeat", tone: "bad" },
  failed: { word: "Failed", icon: "cross", tone: "bad" },
  unknown: { word: "Unknown", icon: "question", tone: "odd" },
  idle: { word: "Idle", icon: "clock", tone: "busy" },
  stopping: { word: "Stopping", icon: "stop", tone: "wait" },
  stopped: { word: "Stopped", icon: "stop", tone: "muted" },
  completed: { word: "Completed", icon: "check", tone: "good" },
  removing: { word: "Removing", icon: "trash", tone: "muted" },
};

export const WORKLOAD_PHASE_KINDS = Object.keys(WORKLOAD_PHASES) as WorkloadPhase[];

const HEALTH: Record<Health, Look> = {
  healthy: { word: "Healthy", icon: "check", tone: "good" },
  unhealthy: { word: "Unhealthy", icon: "alert", tone: "bad" },
};

export function healthLook(health: Health | null | undefined): Look | undefined {
  return health ? HEALTH[health] : undefined;
}

/** How it stands on one node; what the node last said holds only while it is heard of. */
export function placementLook(placement: PlacementView): Look {
  if (placement.nodeState === "offline" || placement.nodeState === "removed")
    return WORKLOAD_PHASES.unknown;
  if (!placement.phase) return { word: "Not told yet", icon: "clock", tone: "wait" };
  if (placement.phase === "removed") return { word: "Gone", icon: "trash", tone: "muted" };
  return WORKLOAD_PHASES[placement.phase satisfies Exclude<Phase, "removed">];
}

/** Why it stands so there, in words. */
export function placementCause(placement: PlacementView): string {
  const parts: string[] = [];
  if (placement.nodeState !== "online") parts.push(`the node is ${placement.nodeState}`);
  if (placement.desired === "remove") parts.push("it is leaving");
  if (placement.reason) parts.push(placement.reason);
  if (placement.warning) parts.push(placement.warning);
  if (placement.failures > 1) parts.push(`${placement.failures} failures in a row`);
  if (placement.missed > 0) parts.push(`${placement.missed} times left out`);
  return parts.join("; ");
}

/** `forever`, `once`, `3 times`, `30 3 * * *`. */
export function modeWord(spec: WorkloadSpec): string {
  const mode = spec.mode ?? "once";
  if (typeof mode === "string") return mode;
  if ("times" in mode) return mode.times === 1 ? "1 time" : `${mode.times} times`;
  return mode.schedule.cron;
}

/** With the time zone of a schedule. */
export function modeStory(spec: WorkloadSpec): string {
  const { mode } = spec;
  if (typeof mode !== "object" || !("schedule" in mode)) return modeWord(spec);
  return `${mode.schedule.cron} ${mode.schedule.timezone ?? "UTC"}`;
}

export function isScheduled(spec: WorkloadSpec): boolean {
  return typeof spec.mode === "object" && "schedule" in spec.mode;
}

/** What it runs, as one line. */
export function programWords(spec: WorkloadSpec): string {
  if (spec.python) return `python ${spec.python.module}:${spec.python.entry ?? "run"}`;
  return quoteCommand(spec.command);
}

/** The newest end of a run that any of its nodes tells of. */
export function lastExit(workload: WorkloadView): Exit | undefined {
  return workload.placements
    .flatMap((placement) => (placement.lastExit ? [placement.lastExit] : []))
    .reduce<Exit | undefined>(
      (newest, exit) => (newest && newest.time >= exit.time ? newest : exit),
      undefined,
    );
}

export function exitTone(exit: Exit | null | undefined): Tone {
  if (!exit || exit.reason === "stopped") return "muted";
  return exit.reason === "exited" && exit.code === 0 ? "good" : "bad";
}

/** How it ended, in a word: `0`, `signal 9`, `out of memory`. */
export function exitWord(exit: Exit | null | undefined): string {
  if (!exit) return "";
  return exit.reason === "exited" ? exitShort(exit) : exit.reason.replaceAll("-", " ");
}

/** All that is known of how it ended: `signal 9, out of memory: used 512 MiB, Nov 15, 2026`. */
export function exitStory(exit: Exit | null | undefined): string {
  if (!exit) return "";
  const [word, short] = [exitWord(exit), exitShort(exit)];
  const how = word === short ? word : `${short}, ${word}`;
  return `${how}${exit.message ? `: ${exit.message}` : ""}, ${moment(exit.time)}`;
}

export function took(run: WorkloadRunView, now: number): string {
  if (!run.timeStarted || (!run.timeEnded && run.state !== "running")) return "";
  const end = run.timeEnded ? Date.parse(run.timeEnded) : now;
  return length(end - Date.parse(run.timeStarted));
}

/** When something comes: `in 12 s`, `in 4 h 05 m`, `now`. */
export function soon(then: string | null | undefined, now: number): string {
  if (!then) return "";
  const ms = Date.parse(then) - now;
  return ms < 1000 ? "now" : `in ${length(Math.ceil(ms / 1000) * 1000).replace(".0 s", " s")}`;
}

export type WorkloadVerb = "start" | "stop" | "restart" | "rm";

const OVER: readonly WorkloadPhase[] = ["stopped", "completed", "failed"];

/** What each needs on a workload of one's own. */
export const PERMISSIONS = {
  start: "workload.start",
  stop: "workload.stop",
  restart: "workload.restart",
  rm: "workload.remove",
} as const satisfies Record<WorkloadVerb, Permission>;

/** What can sensibly be asked of it now. */
export function verbsFor(workload: WorkloadView): WorkloadVerb[] {
  if (workload.desired === "remove") return [];
  if (workload.desired === "stop") return ["start", "rm"];
  return OVER.includes(workload.status.phase) ? ["start", "stop", "rm"] : ["restart", "stop", "rm"];
}

export interface WorkloadFilter {
  state?: WorkloadPhase | undefined;
  tag?: string | undefined;
  node?: string | undefined;
  text?: string | undefined;
  /** An expression that the server is asked. */
  filter?: string | undefined;
}

export function isShown(workload: WorkloadView, filter: WorkloadFilter): boolean {
  const { spec, status, placements } = workload;
  if (filter.state && status.phase !== filter.state) return false;
  if (filter.tag && !spec.tags?.includes(filter.tag)) return false;
  if (filter.node && !placements.some((placement) => placement.node === filter.node)) return false;
  const wanted = (filter.text ?? "").trim().toLowerCase();
  if (wanted === "") return true;
  const nodes = placements.map((placement) => placement.node).join(" ");
  const words = `${workload.name} ${programWords(spec)} ${(spec.tags ?? []).join(" ")} ${nodes}`;
  return words.toLowerCase().includes(wanted);
}

export interface Facets {
  states: { state: WorkloadPhase; count: number }[];
  tags: string[];
  nodes: string[];
}

/** What there is to filter by. */
export function facetsOf(workloads: readonly WorkloadView[]): Facets {
  const counts = new Map<WorkloadPhase, number>();
  const tags = new Set<string>();
  const nodes = new Set<string>();
  for (const { status, spec, placements } of workloads) {
    counts.set(status.phase, (counts.get(status.phase) ?? 0) + 1);
    spec.tags?.forEach((tag) => tags.add(tag));
    placements.forEach((placement) => nodes.add(placement.node));
  }
  return {
    states: WORKLOAD_PHASE_KINDS.flatMap((state) => {
      const count = counts.get(state);
      return count === undefined ? [] : [{ state, count }];
    }),
    tags: [...tags].sort(),
    nodes: [...nodes].sort(),
  };
}

/** Fields that hold bytes, which people rather read as `256MiB`. */
const SIZES = new Set(["memory", "memoryHigh", "maxBytes"]);

function sized(value: unknown, key = ""): unknown {
  if (typeof value === "number" && SIZES.has(key)) return value === 0 ? 0 : exactBytes(value);
  if (Array.isArray(value)) return value.map((item) => sized(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, sized(inner, name)]),
  );
}

/** What a file that is applied would say: its name, and the fields of its spec beside it. */
export function asFile({ name, spec }: WorkloadView): Record<string, unknown> {
  const { env, python, ...rest } = spec;
  const around = { ...(env && { env }), ...(python && { python }) };
  return { name, ...(sized(rest) as object), ...around };
}
