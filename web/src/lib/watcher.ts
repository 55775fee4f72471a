// Watchers: how they stand, what a form means, and the commands that do the same.

import type {
  Permission,
  Watch,
  WatchCondition,
  WatcherSpec,
  WatcherState,
  WatcherView,
} from "./api/types";
import { quoteCommand, splitCommand } from "./argv";
import { isName, type Read, readPairs, readSpan } from "./fields";
import type { Look } from "./words";

type KeyOf<T> = T extends unknown ? keyof T : never;
export type WatchKind = KeyOf<Watch>;

export const WATCHER_STATES: Record<WatcherState, Look> = {
  off: { word: "Off", icon: "pause", tone: "muted" },
  pending: { word: "Pending", icon: "clock", tone: "wait" },
  looking: { word: "Looking", icon: "check", tone: "good" },
  firing: { word: "Firing", icon: "alert", tone: "bad" },
  trouble: { word: "Trouble", icon: "question", tone: "odd" },
};

/** What is worst of it. */
export function watcherLook({ isEnabled, hindrance, firing, trouble }: WatcherView): Look {
  if (!isEnabled) return { word: "Disabled", icon: "pause", tone: "muted" };
  if (hindrance) return { word: "Held back", icon: "alert", tone: "wait" };
  if (firing > 0) return WATCHER_STATES.firing;
  if (trouble > 0) return WATCHER_STATES.trouble;
  return { word: "Enabled", icon: "check", tone: "good" };
}

/** `3 look, 1 firing`. */
export function standsWords({ looking, firing, trouble }: WatcherView): string {
  const all = [`${looking} look`];
  if (firing > 0) all.push(`${firing} firing`);
  if (trouble > 0) all.push(`${trouble} in trouble`);
  return all.join(", ");
}

/** On which nodes. */
export function whereWords({ nodes, selector }: Pick<WatcherSpec, "nodes" | "selector">): string {
  if (nodes && nodes.length > 0) return nodes.join(", ");
  return pairs(selector).join(",") || "all nodes";
}

export function kindOf(watch: Watch): WatchKind {
  return Object.keys(watch)[0] as WatchKind;
}

/** What whoever has nodes look has to be allowed on their machines. */
export function needsOf(kind: WatchKind): Permission {
  return kind === "command" ? "node.administer" : "node.inspect";
}

const PRESENCE: WatchCondition[] = ["created", "changed", "removed"];
/** What each kind can fire on, where there is a choice; the first few are usual. */
export const CONDITIONS: Partial<Record<WatchKind, { all: WatchCondition[]; usual: number }>> = {
  file: { all: PRESENCE, usual: 3 },
  directory: { all: PRESENCE, usual: 3 },
  process: { all: ["started", "ended"], usual: 2 },
  port: { all: ["opened", "closed"], usual: 2 },
  command: { all: ["failed", "recovered", "changed", "output-changed", "matches"], usual: 2 },
  service: { all: ["started", "stopped", "failed"], usual: 3 },
};

/** How a kind is offered, and what it is asked about. */
export const WATCH_KINDS: Record<
  WatchKind,
  { word: string; subject?: string; like?: string; note?: string }
> = {
  file: { word: "a file", subject: "Path", like: "/etc/hosts" },
  directory: { word: "a directory", subject: "Path", like: "/srv/in" },
  process: { word: "processes", subject: "Name", like: "nginx" },
  port: { word: "a TCP port", subject: "Port", like: "5432", note: "HOST:PORT elsewhere." },
  command: {
    word: "a command",
    subject: "Command",
    like: "/usr/sbin/mdadm --detail --test /dev/md0",
    note: "Run from its arguments, without a shell.",
  },
  log: {
    word: "new lines of a log",
    subject: "File below /var/log, or unit of systemd",
    like: "/var/log/syslog",
  },
  service: { word: "a unit of systemd", subject: "Unit", like: "nginx.service" },
  cpu: { word: "how busy the processors are" },
  memory: { word: "how much memory is in use" },
  disk: { word: "how full a disk is", subject: "Path on it", like: "/" },
  load: { word: "the load" },
  certificate: {
    word: "when a certificate ends",
    subject: "File, or HOST:PORT",
    like: "/etc/ssl/x.pem",
  },
};

export const LEVELS = ["cpu", "memory", "disk", "load"] as const satisfies WatchKind[];
type Level = (typeof LEVELS)[number];
export function isLevel(kind: WatchKind): kind is Level {
  return (LEVELS as readonly WatchKind[]).includes(kind);
}

export interface WatcherDraft {
  name: string;
  description: string;
  kind: WatchKind;
  subject: string;
  on: WatchCondition[];
  hash: boolean;
  recursive: boolean;
  /** Of names in a directory, of lines, or of what a command prints. */
  pattern: string;
  /** A regular expression of command lines, instead of the name of processes. */
  fits: string;
  count: string;
  user: string;
  timeLimit: string;
  side: "above" | "below";
  figure: string;
  lasts: string;
  clear: string;
  within: string;
  /** With commas or blanks between them. */
  nodes: string;
  selector: string;
  interval: string;
  cooldown: string;
}

export type WatcherMistakes = Partial<Record<keyof WatcherDraft, string>>;

export function watcherDraft(): WatcherDraft {
  return {
    name: "",
    description: "",
    kind: "file",
    subject: "",
    on: [],
    hash: false,
    recursive: false,
    pattern: "",
    fits: "",
    count: "",
    user: "",
    timeLimit: "",
    side: "above",
    figure: "",
    lasts: "",
    clear: "",
    within: "",
    nodes: "",
    selector: "",
    interval: "",
    cooldown: "",
  };
}

/** What the form means, or every mistake in it. */
export function buildWatcher(draft: WatcherDraft): {
  spec?: WatcherSpec;
  mistakes: WatcherMistakes;
} {
  const mistakes: WatcherMistakes = {};
  if (!isName(draft.name.trim())) mistakes.name = "Use 1 to 63 lowercase letters, digits or “-”.";
  const nodes = draft.nodes.split(/[\s,]+/).filter((name) => name !== "");
  const wrong = nodes.find((name) => !isName(name));
  if (wrong) mistakes.nodes = `“${wrong}” is not the name of a node.`;
  const selector = taken("selector", readPairs(draft.selector, /[\s,]+/), mistakes) ?? {};
  const interval = span("interval", draft, mistakes);
  const cooldown = span("cooldown", draft, mistakes);
  const watch = buildWatch(draft, mistakes);
  if (Object.keys(mistakes).length > 0) return { mistakes };
  const description = draft.description.trim();
  const spec: WatcherSpec = {
    ...(description && { description }),
    ...(nodes.length > 0 && { nodes }),
    ...(Object.keys(selector).length > 0 && { selector }),
    watch,
    ...(interval && { interval }),
    ...(cooldown && { cooldown }),
  };
  return { spec, mistakes };
}

function buildWatch(draft: WatcherDraft, mistakes: WatcherMistakes): Watch {
  const { kind } = draft;
  const [subject, pattern] = [draft.subject.trim(), draft.pattern.trim()];
  const known = CONDITIONS[kind]?.all ?? [];
  const fires = known.filter((one) => draft.on.includes(one));
  const on = fires.length > 0 ? { on: fires } : {};
  switch (kind) {
    case "file":
      path(subject, mistakes);
      return { file: { path: subject, ...on, ...(draft.hash && { hash: true }) } };
    case "directory":
      path(subject, mistakes);
      return {
        directory: {
          path: subject,
          ...on,
          ...(draft.recursive && { recursive: true }),
          ...(pattern && { pattern }),
        },
      };
    case "process": {
      const command = draft.fits.trim();
      if ((subject === "") === (command === ""))
        mistakes.subject = "Say which: either by name, or by their command line.";
      const count = whole("count", draft, 10_000, mistakes);
      const which = command ? { command } : { name: subject };
      return { process: { ...which, ...on, ...(count && count > 1 && { count }) } };
    }
    case "port": {
      const [, host, digits = ""] = /^(?:(.+):)?(\d{1,5})$/.exec(subject) ?? [];
      const port = Number(digits);
      if (!(port >= 1 && port <= 65_535)) mistakes.subject = "Write a port, or HOST:PORT.";
      return { port: { port, ...(host && { host: host.replace(/^\[(.+)\]$/, "$1") }), ...on } };
    }
    case "command": {
      const split = splitCommand(subject);
      if (!split.ok) mistakes.subject = split.error;
      else if (split.argv.length === 0) mistakes.subject = "Name a program, and its arguments.";
      const matches = fires.includes("matches");
      if (matches && pattern === "") mistakes.pattern = "Say what it has to print.";
      const [user, timeLimit] = [draft.user.trim(), span("timeLimit", draft, mistakes)];
      return {
        command: {
          command: split.ok ? split.argv : [],
          ...(user && { user }),
          ...(timeLimit && { timeLimit }),
          ...on,
          ...(matches && { pattern }),
        },
      };
    }
    case "log": {
      if (subject === "") mistakes.subject = "Say where lines come from.";
      else if (subject.startsWith("/") && !subject.startsWith("/var/log/"))
        mistakes.subject = "Only files below /var/log are read.";
      if (pattern === "") mistakes.pattern = "Say what lines have to fit.";
      return {
        log: { ...(subject.startsWith("/") ? { path: subject } : { unit: subject }), pattern },
      };
    }
    case "service":
      if (subject === "") mistakes.subject = "Name a unit such as nginx.service.";
      return { service: { unit: subject, ...on } };
    case "certificate": {
      const isPath = subject.startsWith("/");
      if (!isPath && !/^.+:\d{1,5}$/.test(subject))
        mistakes.subject = "A path begins with /; a server is HOST:PORT.";
      const within = span("within", draft, mistakes);
      const which = isPath ? { path: subject } : { address: subject };
      return { certificate: { ...which, within: within ?? "30d" } };
    }
    case "cpu":
      return { cpu: threshold(draft, mistakes) };
    case "memory":
      return { memory: threshold(draft, mistakes) };
    case "load":
      return { load: threshold(draft, mistakes) };
    case "disk":
      if (subject !== "") path(subject, mistakes);
      return { disk: { ...(subject && { path: subject }), ...threshold(draft, mistakes) } };
  }
}

function path(text: string, mistakes: WatcherMistakes): void {
  if (!text.startsWith("/")) mistakes.subject = "A path of the machine begins with /.";
}

function threshold(draft: WatcherDraft, mistakes: WatcherMistakes) {
  const figure = amount("figure", draft, mistakes);
  if (figure === undefined) mistakes.figure ??= "Say from which figure on.";
  const clear = amount("clear", draft, mistakes);
  const lasts = span("lasts", draft, mistakes);
  return {
    [draft.side]: figure,
    ...(lasts && { for: lasts }),
    ...(clear !== undefined && { clear }),
  };
}

function amount(
  key: "figure" | "clear",
  draft: WatcherDraft,
  mistakes: WatcherMistakes,
): number | undefined {
  const text = draft[key].trim();
  if (text === "") return undefined;
  const most = draft.kind === "load" ? 1e6 : 100;
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value <= most) return value;
  mistakes[key] = draft.kind === "load" ? "Write a number." : "Write percent, from 0 to 100.";
  return undefined;
}

function whole(
  key: "count",
  draft: WatcherDraft,
  most: number,
  mistakes: WatcherMistakes,
): number | undefined {
  const text = draft[key].trim();
  if (text === "") return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > most) mistakes[key] = `Write a whole number from 1 to ${most}.`;
  return value;
}

function span(
  key: "interval" | "cooldown" | "lasts" | "within" | "timeLimit",
  draft: WatcherDraft,
  mistakes: WatcherMistakes,
): string | undefined {
  return draft[key].trim() === "" ? undefined : taken(key, readSpan(draft[key]), mistakes);
}

function taken<T>(
  key: keyof WatcherDraft,
  read: Read<T>,
  mistakes: WatcherMistakes,
): T | undefined {
  if (read.ok) return read.value;
  mistakes[key] = read.error;
  return undefined;
}

function pairs(selector: WatcherSpec["selector"]): string[] {
  return Object.entries(selector ?? {}).map(([key, value]) => `${key}=${value}`);
}

export function watcherCommand(
  verb: "ls" | "show" | "enable" | "disable" | "rm",
  watcher: string | undefined,
  project: string,
): string {
  return quoteCommand([
    "hostler",
    "watcher",
    verb,
    ...(watcher ? [watcher] : []),
    ...scoped(project),
  ]);
}

function scoped(project: string): string[] {
  return project === "default" ? [] : ["-p", project];
}

/** The command that makes the same. */
export function watcherAdd(name: string, spec: WatcherSpec, project: string): string {
  const words = ["hostler", "watcher", "add", name, ...scoped(project)];
  const flag = (key: string, value: string | number | null | undefined): void => {
    if (value !== undefined && value !== null && value !== "") words.push(key, String(value));
  };
  const { watch } = spec;
  let command: string[] = [];
  let on: readonly WatchCondition[] | undefined;
  if ("file" in watch) {
    flag("--file", watch.file.path);
    if (watch.file.hash) words.push("--hash");
    on = watch.file.on;
  } else if ("directory" in watch) {
    flag("--directory", watch.directory.path);
    if (watch.directory.recursive) words.push("--recursive");
    flag("--name", watch.directory.pattern);
    on = watch.directory.on;
  } else if ("process" in watch) {
    flag("--process", watch.process.name);
    flag("--process-command", watch.process.command);
    flag("--count", watch.process.count);
    on = watch.process.on;
  } else if ("port" in watch) {
    const { host, port } = watch.port;
    flag("--port", host ? `${host.includes(":") ? `[${host}]` : host}:${port}` : port);
    on = watch.port.on;
  } else if ("command" in watch) {
    ({ command, on } = watch.command);
    flag("--user", watch.command.user);
    flag("--time-limit", watch.command.timeLimit);
    flag("--pattern", watch.command.pattern);
  } else if ("log" in watch) {
    flag("--log", watch.log.path);
    flag("--unit", watch.log.unit);
    flag("--pattern", watch.log.pattern);
  } else if ("service" in watch) {
    flag("--service", watch.service.unit);
    on = watch.service.on;
  } else if ("certificate" in watch) {
    flag("--certificate", watch.certificate.path || watch.certificate.address);
    flag("--within", watch.certificate.within);
  } else {
    if ("disk" in watch) flag("--disk", watch.disk.path);
    const kind = kindOf(watch);
    const level = Object.values(watch)[0] as {
      above?: number;
      below?: number;
      for?: string;
      clear?: number;
    };
    flag(`--${kind}-above`, level.above);
    flag(`--${kind}-below`, level.below);
    flag("--for", level.for);
    flag("--clear", level.clear);
  }
  flag("--on", on?.join(","));
  flag("--description", spec.description);
  flag("--on-node", spec.nodes?.join(","));
  flag("-l", pairs(spec.selector).join(","));
  flag("--interval", spec.interval);
  flag("--cooldown", spec.cooldown);
  return quoteCommand([...words, ...(command.length > 0 ? ["--", ...command] : [])]);
}
