// Workflows and executions in words: how steps stand, what they do and where, what a retry would do.

import type {
  ExecutionStepView,
  ExecutionView,
  Problem,
  WorkflowRunBody,
  WorkflowStep,
} from "./api/types";
import { quoteCommand } from "./argv";
import type { Read } from "./fields";
import type { GraphStep } from "./graph";
import { length, type Look } from "./words";

const STATUSES: Record<string, Look> = {
  waiting: { word: "Waiting", icon: "clock", tone: "muted" },
  running: { word: "Running", icon: "play", tone: "busy" },
  resting: { word: "Tries again", icon: "repeat", tone: "wait" },
  succeeded: { word: "Succeeded", icon: "check", tone: "good" },
  failed: { word: "Failed", icon: "cross", tone: "bad" },
  "timed-out": { word: "Timed out", icon: "clock", tone: "bad" },
  skipped: { word: "Skipped", icon: "arrow", tone: "muted" },
  aborted: { word: "Aborted", icon: "alert", tone: "bad" },
  cancelled: { word: "Cancelled", icon: "stop", tone: "muted" },
  uncertain: { word: "Uncertain", icon: "question", tone: "odd" },
};

const STATES: Record<string, Look> = {
  preparing: { word: "Preparing", icon: "arrow", tone: "wait" },
  beginning: { word: "Beginning", icon: "arrow", tone: "wait" },
  running: { word: "Running", icon: "play", tone: "busy" },
  settling: { word: "Settling", icon: "arrow", tone: "busy" },
  finishing: { word: "Finishing", icon: "arrow", tone: "busy" },
};

const SKIPPED: Record<string, string> = {
  condition: "its condition did not hold",
  dependency: "something that it depends on did not succeed",
  "no-failure": "nothing failed that it is there for",
  ended: "the execution ended before its turn",
  "not-selected": "it was not asked for",
};

/** A word that is not known here is shown as it is. */
export function statusLook(status: string): Look {
  return STATUSES[status] ?? { word: status, icon: "question", tone: "muted" };
}

export function stepLook(step: ExecutionStepView): Look {
  if (isAsking(step)) return { word: "Awaits approval", icon: "question", tone: "wait" };
  return statusLook(step.status);
}

/** Whether it waits for people to agree; once they have, it may have tasks of its own. */
export function isAsking({ status, approval, tasks }: ExecutionStepView): boolean {
  return status === "running" && Boolean(approval) && !tasks?.some(({ end }) => !end);
}

export function isOver({ state }: ExecutionView): boolean {
  return state === "ended";
}

export function executionLook(execution: ExecutionView): Look {
  const { state, outcome, isCancelRequested } = execution;
  if (isOver(execution)) return statusLook(outcome ?? "uncertain");
  if (isCancelRequested) return { word: "Cancelling", icon: "stop", tone: "wait" };
  return STATES[state] ?? statusLook(state);
}

/** What is known of how it stands: the message, or why it was skipped. */
export function stepStory({ message, standing }: ExecutionStepView): string {
  if (message) return message;
  if (typeof standing === "object" && "skipped" in standing)
    return SKIPPED[standing.skipped] ?? standing.skipped;
  return "";
}

/** `3 of 5 steps are over: 2 succeeded, 1 failed`. */
export function progressWords(steps: readonly ExecutionStepView[]): string {
  const counts = new Map<string, number>();
  for (const { standing, status } of steps)
    if (typeof standing === "object" && ("ended" in standing || "skipped" in standing))
      counts.set(status, (counts.get(status) ?? 0) + 1);
  const over = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const said = [...counts].map(([status, count]) => `${count} ${lower(statusLook(status).word)}`);
  const all = steps.length === 1 ? "1 step is" : `${steps.length} steps are`;
  return `${over} of ${all} over${said.length > 0 ? `: ${said.join(", ")}` : ""}`;
}

function lower(word: string): string {
  return word.toLowerCase();
}

/** How long something has taken, or took. */
export function took(
  { timeStarted, timeEnded }: Pick<ExecutionStepView, "timeStarted" | "timeEnded">,
  now: number,
): string {
  if (!timeStarted) return "";
  return length((timeEnded ? Date.parse(timeEnded) : now) - Date.parse(timeStarted));
}

/** Nodes that were named for it, the newest first. */
export function nodesOf({ tasks }: ExecutionStepView): string[] {
  return [...new Set((tasks ?? []).flatMap(({ node }) => node ?? []))];
}

/**
 * Names of the steps that a retry does again: what did not succeed, what was undone, and everything from
 * a step on.
 */
export function doneAgain(
  steps: readonly ExecutionStepView[],
  graph: readonly GraphStep[],
  { from, uncertain }: { from: string | undefined; uncertain: boolean },
): string[] {
  const after = new Set(from === undefined ? [] : [from]);
  for (let known = -1; known !== after.size;) {
    known = after.size;
    for (const { name, dependsOn = [], afterFailureOf = [] } of graph)
      if ([...dependsOn, ...afterFailureOf].some((one) => after.has(one))) after.add(name);
  }
  return steps
    .filter((step) => after.has(step.name) || isLeft(step, uncertain))
    .map(({ name }) => name);
}

function isLeft({ standing, isUndone }: ExecutionStepView, isUncertainToo: boolean): boolean {
  if (isUndone || typeof standing !== "object") return true;
  if ("ended" in standing) {
    if (standing.ended === "uncertain") return isUncertainToo;
    return standing.ended !== "succeeded" && standing.ended !== "skipped";
  }
  if ("skipped" in standing)
    return standing.skipped !== "condition" && standing.skipped !== "not-selected";
  return true;
}

/** The graph that was carried out; what its version says of failures is added where it is known. */
export function executionGraph(
  steps: readonly ExecutionStepView[],
  definition: readonly WorkflowStep[] = [],
): GraphStep[] {
  const known = new Map(definition.map((step) => [step.name, step.afterFailureOf ?? []]));
  return steps.map(({ name, dependsOn }) => ({
    name,
    dependsOn,
    afterFailureOf: known.get(name) ?? [],
  }));
}

export function workflowGraph(steps: readonly WorkflowStep[] = []): GraphStep[] {
  return steps.map(({ name = "", dependsOn = [], afterFailureOf = [] }) => ({
    name,
    dependsOn,
    afterFailureOf,
  }));
}

export function actWords(act: WorkflowStep["act"]): string {
  if (act === undefined || act === "nothing") return "nothing; it groups what it depends on";
  if (act === "function") return "a function of the file";
  if (act === "script") return "the whole file";
  if ("command" in act) return act.command;
  if ("program" in act) return quoteCommand(act.program);
  const { count = 1, message, approvers = [] } = act.approval;
  const who = approvers.length > 0 ? ` of ${approvers.join(", ")}` : " people";
  const words =
    count > 1 || approvers.length > 0 ? `${Math.max(1, count)}${who} agree` : "somebody agrees";
  return `waits until ${words}${message ? `: ${message}` : ""}`;
}

/** Whether it is something that a shell or a system runs, and shown as such. */
export function isProgram(act: WorkflowStep["act"]): boolean {
  return typeof act === "object" && !("approval" in act);
}

export function whereWords(delegate: WorkflowStep["delegate"]): string {
  if (!delegate) return "";
  const { targets = "any", fallback } = delegate;
  return `${targetWords(targets)}${fallback ? ", or where the execution runs" : ""}`;
}

function targetWords(
  targets: NonNullable<NonNullable<WorkflowStep["delegate"]>["targets"]>,
): string {
  if (targets === "any") return "any node";
  if (targets === "function") return "nodes that a function names";
  if ("nodes" in targets) return targets.nodes.join(", ");
  const pairs = (labels: Record<string, string>): string =>
    Object.entries(labels)
      .map(([key, value]) => (value === "" ? key : `${key}=${value}`))
      .join(", ");
  return "labels" in targets
    ? `a node with ${pairs(targets.labels)}`
    : `every node with ${pairs(targets.all)}`;
}

type Condition = NonNullable<WorkflowStep["runIf"]>[number];

function conditionWords(condition: Condition): string {
  if (condition === "function") return "a function of the file says so";
  if ("always" in condition) return condition.always ? "always" : "never";
  return condition.command;
}

function tryWords({ retries, delay, backoff }: NonNullable<WorkflowStep["retry"]>): string {
  if (!retries) return "";
  const times = retries === 1 ? "once" : `up to ${retries} times`;
  const wait = delay ? `, ${delay} apart` : "";
  return `${times}${wait}${backoff && backoff !== "fixed" ? `, ${backoff}` : ""}`;
}

/** Everything that a step's definition says besides what it does. */
export function stepFacts(step: WorkflowStep): [label: string, words: string][] {
  const facts: [string, string | undefined | null | false][] = [
    ["After", step.dependsOn?.join(", ")],
    ["Only when one failed", step.afterFailureOf?.join(", ")],
    ["Where", whereWords(step.delegate)],
    ["Timeout", step.timeout],
    ["Tried again", step.retry && tryWords(step.retry)],
    ["Only if", step.runIf?.map(conditionWords).join("; ")],
    ["Ends everything if", step.abortIf?.map(conditionWords).join("; ")],
    ["Well if", step.healthCheck && conditionWords(step.healthCheck)],
    [
      "Undone by",
      step.compensation &&
        (step.compensation === "function" ? "a function of the file" : step.compensation.command),
    ],
    ["Leaves", step.artifacts?.join(", ")],
    ["Needs", step.consumes?.join(", ")],
    ["Directory", step.workdir],
    ["Runs as", step.user],
    ["Shell", step.shell],
    ["Environment", Object.keys(step.env ?? {}).join(", ")],
    ["Failure", step.mayFail && "does not count"],
    ["At once", step.background && "takes no place of those that run at once"],
    ["Tags", step.tags?.join(", ")],
    ["Written at", step.place?.line ? `${step.place.file}:${step.place.line}` : undefined],
  ];
  return facts.flatMap(([label, words]) => (words ? [[label, words] as [string, string]] : []));
}

/** An object in JSON; nothing where nothing was typed. */
export function readValues(text: string): Read<Record<string, unknown> | undefined> {
  if (text.trim() === "") return { ok: true, value: undefined };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return { ok: true, value: value as Record<string, unknown> };
    return { ok: false, error: 'Values are an object, such as {"tag": "v2"}.' };
  } catch (error) {
    const why = error instanceof Error ? error.message : "";
    return { ok: false, error: `This is not JSON: ${why}` };
  }
}

export interface RunDraft {
  version: number | undefined;
  values: string;
  only: readonly string[];
  delegateTo: readonly string[];
  secrets: readonly string[];
}

export function buildRun(draft: RunDraft): Read<WorkflowRunBody> {
  const values = readValues(draft.values);
  if (!values.ok) return values;
  const { version, only, delegateTo, secrets } = draft;
  return {
    ok: true,
    value: {
      ...(version !== undefined && { version }),
      ...(values.value && { values: values.value }),
      options: {
        ...(only.length > 0 && { only: [...only] }),
        ...(delegateTo.length > 0 && { delegateTo: [...delegateTo] }),
        ...(secrets.length > 0 && { secrets: [...secrets] }),
      },
    },
  };
}

/** A mistake in a file, with where it is. */
export interface FileMistake {
  file: string;
  line: number | undefined;
  text: string;
  /** The line itself and what marks the place in it. */
  excerpt: string;
}

/** `release.sloth:3:5: what is wrong`, then the line with a mark below it. */
export function readMistake(detail: string, files: Record<string, string> = {}): FileMistake {
  const [head = "", ...rest] = detail.split("\n");
  const [, file = "", digits, text = head] = /^(.*?):(\d+)(?::\d+)?: (.*)$/.exec(head) ?? [];
  const line = digits === undefined ? undefined : Number(digits);
  const own = line === undefined ? undefined : files[file]?.split("\n")[line - 1];
  return { file, line, text, excerpt: rest.length > 0 ? outdent(rest) : (own ?? "").trimEnd() };
}

function outdent(lines: readonly string[]): string {
  return lines.map((one) => one.replace(/^ {4}/, "")).join("\n");
}

/** What is wrong with files that were pushed; nothing where the problem is about something else. */
export function mistakesOf(problem: Problem, files: Record<string, string>): FileMistake[] {
  return (problem.errors ?? [])
    .filter(({ pointer }) => pointer?.startsWith("/bundle"))
    .map(({ detail }) => readMistake(detail, files));
}

/** Data as it is shown: JSON, with text as it is. */
export function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

export function isSomething(value: unknown): boolean {
  if (value === undefined || value === null) return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}
