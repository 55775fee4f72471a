// Schedules: how a fire stands, what a form means, and the commands that do the same.

import {
  buildWork,
  emptyWork,
  taskWords,
  type WorkDraft,
  type WorkKind,
  type WorkMistakes,
} from "./action";
import type {
  Action,
  FireCause,
  FireRemark,
  FireState,
  HttpMethod,
  ScheduleFireView,
  ScheduleSpec,
  ScheduleView,
} from "./api/types";
import { quoteCommand, quoteWord } from "./argv";
import { without } from "./draft";
import { isName, readSpan } from "./fields";
import { length, type Look } from "./words";

export const FIRE_STATES: Record<FireState, Look> = {
  begun: { word: "Begun", icon: "play", tone: "busy" },
  done: { word: "Done", icon: "check", tone: "good" },
  failed: { word: "Failed", icon: "cross", tone: "bad" },
  uncertain: { word: "Uncertain", icon: "question", tone: "odd" },
  missed: { word: "Missed", icon: "alert", tone: "wait" },
};
export const FIRE_STATE_KINDS = Object.keys(FIRE_STATES) as FireState[];

const CAUSES: Record<FireCause, string> = {
  planned: "",
  "caught-up": "made up for",
  manual: "asked for",
  outage: "no server was there",
  overlap: "the one before still went on",
  "too-many": "more had passed than are made up for",
};

const REMARKS: Record<FireRemark, string> = {
  skipped: "the clock skips the time asked for; it comes at the change",
  "first-of-two": "the clock shows this time twice; the first counts",
  twice: "the clock shows this time twice, and it comes twice",
  changed: "clocks are changed before this",
};

/** Up to a minute is not worth a word: servers look that often at least. */
const LATE_MS = 60_000;

export function remarkWords(remark: FireRemark | null | undefined): string {
  return remark ? REMARKS[remark] : "";
}

/** How a fire stands: what was begun may have ended badly although beginning it went well. */
export function fireLook(fire: ScheduleFireView): Look {
  if (fire.state !== "done" || fire.isGood === true) return FIRE_STATES[fire.state];
  if (fire.isGood === false) return { word: "Ended badly", icon: "cross", tone: "bad" };
  return fire.standing ? { word: "Under way", icon: "play", tone: "busy" } : FIRE_STATES.done;
}

export function scheduleLook({ pause, timeNext }: ScheduleView): Look {
  if (pause) return { word: "Paused", icon: "pause", tone: "wait" };
  if (!timeNext) return { word: "Over", icon: "stop", tone: "muted" };
  return { word: "Active", icon: "clock", tone: "good" };
}

/** Why, how late, how many, how often: what is worth saying about a fire besides how it stands. */
export function fireRemarks(fire: ScheduleFireView): string[] {
  const late = Date.parse(fire.timeBegun) - Date.parse(fire.timePlanned);
  const by = fire.askedBy ? ` by ${fire.askedBy}` : "";
  return [
    CAUSES[fire.cause] && `${CAUSES[fire.cause]}${by}`,
    fire.count > 1 ? `${fire.count >= 1000 ? "1000 or more" : fire.count} times` : "",
    fire.state !== "missed" && late >= LATE_MS ? `${length(late)} late` : "",
    fire.tries > 1 ? `${fire.tries} tries` : "",
    fire.status ? `answered ${fire.status}` : "",
  ].filter((word) => word !== "");
}

export const TIMINGS = { cron: "by the clock", every: "again and again", at: "once" } as const;
export type Timing = keyof typeof TIMINGS;
export const OVERLAPS = {
  forbid: "the new one is missed",
  queue: "it waits until the old one has ended",
  replace: "the old one is stopped first",
  allow: "both go on",
} as const;
export const CATCH_UPS = {
  one: "the latest of them, once",
  all: "each of them",
  none: "nothing",
} as const;
export const METHODS = [
  "POST",
  "GET",
  "PUT",
  "PATCH",
  "DELETE",
  "HEAD",
] as const satisfies readonly HttpMethod[];

export type TargetKind = WorkKind | "http";
/** The permission that each target needs besides. */
export const TARGETS: Record<TargetKind, string> = {
  task: "submit a task",
  workflow: "carry out a workflow",
  workload: "start, stop or restart a workload",
  http: "call an address outside",
};

export interface ScheduleDraft {
  name: string;
  timing: Timing;
  cron: string;
  every: string;
  /** As a field for date and time has it, in the browser's own time. */
  at: string;
  zone: string;
  jitter: string;
  overlap: keyof typeof OVERLAPS;
  catchUp: keyof typeof CATCH_UPS;
  description: string;
  kind: TargetKind;
  work: WorkDraft;
  url: string;
  method: HttpMethod;
  body: string;
  sign: string;
  bearer: string;
}

export type ScheduleMistakes = Partial<
  Record<"name" | "cron" | "every" | "at" | "jitter" | "url", string>
> &
  WorkMistakes;

/** An empty form, or one that says when another schedule comes. */
export function scheduleDraft(from: ScheduleView | undefined, zone: string): ScheduleDraft {
  const spec = from?.spec;
  return {
    name: from?.name ?? "",
    timing: spec?.every ? "every" : spec?.at ? "at" : "cron",
    cron: spec?.cron ?? "",
    every: spec?.every ?? "",
    at: spec?.at ? localOf(spec.at) : "",
    zone: spec ? (spec.timezone ?? "UTC") : zone,
    jitter: spec?.jitter && spec.jitter !== "0s" ? spec.jitter : "",
    overlap: spec?.overlap ?? "forbid",
    catchUp: spec?.catchUp ?? "one",
    description: spec?.description ?? "",
    kind: "task",
    work: emptyWork(),
    url: "",
    method: "POST",
    body: "",
    sign: "",
    bearer: "",
  };
}

/** What the form means, or every mistake in it. With `from`, only when it comes is asked for. */
export function buildSchedule(
  draft: ScheduleDraft,
  from?: ScheduleSpec,
): { spec?: ScheduleSpec; mistakes: ScheduleMistakes } {
  const mistakes: ScheduleMistakes = {};
  if (!isName(draft.name.trim())) mistakes.name = "Use 1 to 63 lowercase letters, digits or “-”.";
  const when = whenOf(draft, mistakes);
  const jitter = draft.jitter.trim();
  if (jitter !== "") {
    const read = readSpan(jitter);
    if (!read.ok) mistakes.jitter = read.error;
  }
  const target = from ? from.target : targetOf(draft, mistakes);
  if (Object.keys(mistakes).length > 0 || !target) return { mistakes };
  const times = ["cron", "every", "at", "timezone", "jitter"] as const;
  const rest =
    draft.timing === "at" ? without(from, ...times, "starts", "ends") : without(from, ...times);
  const description = draft.description.trim();
  const spec: ScheduleSpec = {
    ...rest,
    ...when,
    ...(draft.zone.trim() && { timezone: draft.zone.trim() }),
    ...(jitter && { jitter }),
    overlap: draft.overlap,
    catchUp: draft.catchUp,
    ...(description || from?.description ? { description } : {}),
    target,
  };
  return { spec, mistakes };
}

function whenOf(
  draft: ScheduleDraft,
  mistakes: ScheduleMistakes,
): Pick<ScheduleSpec, "cron" | "every" | "at"> {
  if (draft.timing === "cron") {
    const cron = draft.cron.trim();
    if (cron === "") mistakes.cron = "Five fields, such as 0 3 * * *, or a word such as @daily.";
    return { cron };
  }
  if (draft.timing === "every") {
    const read = readSpan(draft.every);
    if (!read.ok) mistakes.every = read.error;
    return { every: draft.every.trim() };
  }
  const time = Date.parse(draft.at);
  if (Number.isNaN(time)) {
    mistakes.at = "Say when.";
    return {};
  }
  return { at: new Date(time).toISOString() };
}

function targetOf(draft: ScheduleDraft, mistakes: ScheduleMistakes): Action | undefined {
  if (draft.kind !== "http") {
    const built = buildWork(draft.kind, draft.work);
    Object.assign(mistakes, built.mistakes);
    return built.action;
  }
  const url = draft.url.trim();
  if (!/^https?:\/\/./.test(url)) mistakes.url = "An address begins with https:// or http://.";
  const { method, body } = draft;
  const [sign, bearer] = [draft.sign.trim(), draft.bearer.trim()];
  return {
    http: {
      url,
      ...(method !== "POST" && { method }),
      ...(body !== "" && { body }),
      ...(sign && { sign }),
      ...(bearer && { bearer }),
    },
  };
}

export type ScheduleVerb = "ls" | "show" | "rm" | "pause" | "resume" | "run" | "next" | "history";

export function scheduleCommand(
  verb: ScheduleVerb,
  schedule: string | undefined,
  project: string,
  more: readonly string[] = [],
): string {
  const scope = project === "default" ? [] : ["-p", project];
  const words = ["hostler", "schedule", verb, ...(schedule ? [schedule] : []), ...scope, ...more];
  return quoteCommand(words);
}

/** The command that makes the same; a file where flags do not say it all. */
export function scheduleAdd(
  name: string,
  spec: ScheduleSpec,
  project: string,
  isChange = false,
): string {
  const words = ["hostler", "schedule", "add", name];
  if (project !== "default") words.push("-p", project);
  const target = isChange ? undefined : targetWords(spec.target);
  if (target === undefined) {
    words.push("-f", `${name}.yaml`, ...(isChange ? ["--replace"] : []));
    return quoteCommand(words);
  }
  const flag = (key: string, value: string | null | undefined): void => {
    if (value) words.push(key, value);
  };
  flag("--cron", spec.cron);
  flag("--every", spec.every);
  flag("--at", spec.at);
  if (spec.timezone !== "UTC") flag("--zone", spec.timezone);
  flag("--jitter", spec.jitter);
  if (spec.overlap !== "forbid") flag("--overlap", spec.overlap);
  if (spec.catchUp !== "one") flag("--catch-up", spec.catchUp);
  flag("--description", spec.description);
  return `${quoteCommand(words)} ${target}`;
}

function targetWords(target: Action): string | undefined {
  if ("task" in target) return `task ${taskWords(target)}`;
  if ("workload" in target) return quoteCommand([target.workload.verb, target.workload.name]);
  if ("workflow" in target) {
    const { name, values } = target.workflow;
    return values === undefined ? quoteCommand(["workflow", name]) : undefined;
  }
  if ("http" in target) {
    const { url, method, body, sign, bearer } = target.http;
    const words = ["http", url];
    if (method) words.push("--method", method);
    if (body) words.push("--body", body);
    if (sign) words.push("--sign", sign);
    if (bearer) words.push("--bearer", bearer);
    return words.map(quoteWord).join(" ");
  }
  return undefined;
}

function localOf(moment: string): string {
  const time = new Date(moment);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
