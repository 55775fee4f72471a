// The machine of a node: what is looked at, how that stands, and what it can be told to do.

import type {
  HealthLevel,
  HostDeed,
  HostLogLine,
  HostMount,
  HostService,
  ProcessOrder,
  ProcessSignal,
  ServiceVerb,
} from "./api/types";
import { quoteCommand } from "./argv";
import { type Look, share } from "./words";

export const MACHINE_TABS = [
  "health",
  "services",
  "processes",
  "packages",
  "disk",
  "users",
  "logs",
] as const;
/** A word as it stands on a button or a tab. */
export function titled(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

export type MachineTab = (typeof MACHINE_TABS)[number];

export function isMachineTab(text: string | null): text is MachineTab {
  return MACHINE_TABS.some((tab) => tab === text);
}

export const HEALTH_LEVELS: Record<HealthLevel, Look> = {
  ok: { word: "OK", icon: "check", tone: "good" },
  warning: { word: "Warning", icon: "alert", tone: "wait" },
  critical: { word: "Critical", icon: "alert", tone: "bad" },
};

/** A word of the service manager as it is, in the tone of what it means. */
export function serviceLook({ state, active }: Pick<HostService, "state" | "active">): Look {
  const word = titled(state);
  if (state === "failed" || active === "failed") return { word, icon: "cross", tone: "bad" };
  if (state === "running" || active === "active") return { word, icon: "check", tone: "good" };
  if (state === "unknown") return { word, icon: "question", tone: "odd" };
  if (active?.endsWith("ating") || active === "reloading")
    return { word, icon: "clock", tone: "wait" };
  return { word, icon: "stop", tone: "muted" };
}

/** What can be told to a service that stands like this; nothing where nobody can tell how it stands. */
export function serviceVerbs(service: Pick<HostService, "state" | "active">): ServiceVerb[] {
  const { tone } = serviceLook(service);
  if (tone === "odd") return [];
  return tone === "good" || tone === "wait" ? ["restart", "stop"] : ["start"];
}

export const SERVICE_STATES = ["running", "failed", "exited", "dead"] as const;

export const SIGNALS: Record<ProcessSignal, string> = {
  term: "end in order",
  kill: "end at once",
  hup: "read the configuration again",
  int: "interrupt",
  quit: "end, and leave a core",
  stop: "stand still",
  cont: "go on",
  usr1: "what the program makes of it",
  usr2: "what the program makes of it",
};
export const SIGNAL_NAMES = Object.keys(SIGNALS) as ProcessSignal[];

export const PROCESS_ORDERS: Record<ProcessOrder, string> = {
  cpu: "By processor",
  memory: "By memory",
  started: "Newest first",
  pid: "By number",
};

const PROCESS_STATES: Record<string, string> = {
  R: "runs",
  S: "sleeps",
  D: "waits for a device",
  Z: "is dead",
  T: "stands still",
  t: "is being debugged",
  I: "idle",
};

export function processState(letter: string): string {
  return PROCESS_STATES[letter] ?? letter;
}

/** Of one core: `140 %` where a process uses more than one. */
export function coreShare(cpu: number): string {
  const percent = cpu * 100;
  return `${percent > 0 && percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`;
}

const PRIORITIES = [
  "emergency",
  "alert",
  "critical",
  "error",
  "warning",
  "notice",
  "info",
  "debug",
] as const;

export function priorityWord(priority: number): string {
  return PRIORITIES[priority] ?? String(priority);
}

/** What is offered: this and worse. */
export const LEAST_PRIORITIES = [3, 4, 5, 6] as const;

export function isGrave({ priority }: Pick<HostLogLine, "priority">): boolean {
  return typeof priority === "number" && priority <= 3;
}

/** How full: of what everybody may use, as `df` counts it. */
export function fullness({ used, available }: Pick<HostMount, "used" | "available">): number {
  return share(used, Number(used) + Number(available));
}

export interface LogsAsked {
  service: string;
  file: string;
  kernel: boolean;
  lines: number;
  priority: number | undefined;
  grep: string;
}

/** The parameters of a question for logs; a file has neither services nor priorities. */
export function logsQuery({ service, file, kernel, lines, priority, grep }: LogsAsked): {
  service?: string;
  file?: string;
  kernel?: boolean;
  lines: number;
  priority?: number;
  grep?: string;
} {
  const said = grep.trim() ? { grep: grep.trim() } : {};
  if (file.trim()) return { file: file.trim(), lines, ...said };
  return {
    ...(service.trim() && !kernel && { service: service.trim() }),
    ...(kernel && { kernel }),
    lines,
    ...(priority !== undefined && { priority }),
    ...said,
  };
}

export function logsCommand(node: string, asked: LogsAsked): string {
  const query = logsQuery(asked);
  const words = ["hostler", "node", "logs", node];
  if (query.service) words.push("--service", query.service);
  if (query.file) words.push("--file", query.file);
  if (query.kernel) words.push("--kernel");
  if (query.priority !== undefined) words.push("--priority", String(query.priority));
  if (query.grep) words.push("--grep", query.grep);
  if (query.lines !== 100) words.push("-n", String(query.lines));
  return quoteCommand(words);
}

/** The command that looks at the same. */
export function machineCommand(
  what: Exclude<MachineTab, "logs">,
  node: string,
  more: readonly string[] = [],
): string {
  const nouns: Record<typeof what, string[]> = {
    health: ["health"],
    services: ["services", "ls"],
    processes: ["processes", "ls"],
    packages: ["packages", "ls"],
    disk: ["disk"],
    users: ["users", "ls"],
  };
  return quoteCommand(["hostler", "node", ...nouns[what], node, ...more]);
}

export type OfferedDeed = Extract<HostDeed, { do: "service" | "signal" }>;

export function deedTitle(deed: OfferedDeed, node: string): string {
  if (deed.do === "signal") return `Send ${deed.signal} to ${deed.name} (${deed.pid}) on ${node}?`;
  return `${titled(deed.verb)} ${deed.name} on ${node}?`;
}

/** The command that does the same. */
export function deedCommand(deed: OfferedDeed, node: string, approval = ""): string {
  const agreed = approval.trim() ? ["--approval", approval.trim()] : [];
  const words =
    deed.do === "service"
      ? ["services", deed.verb, deed.name, "--on", node]
      : ["processes", "kill", node, String(deed.pid), "--signal", deed.signal, "--name", deed.name];
  return quoteCommand(["hostler", "node", ...words, ...agreed]);
}
