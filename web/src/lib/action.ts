// What is done by the clock, or whenever something happens: the form as data, and the action it means.

import type { Action } from "./api/types";
import { taskRun } from "./cli";
import { buildTask, type Draft, draftOf } from "./draft";
import { isName } from "./fields";
import { readValues } from "./workflow";

export const WORKLOAD_VERBS = ["start", "stop", "restart"] as const;
export type WorkloadActionVerb = (typeof WORKLOAD_VERBS)[number];

/** What the form has for a task, a workflow and a workload, which schedules and hooks share. */
export interface WorkDraft {
  task: Draft;
  workflow: string;
  values: string;
  workload: string;
  verb: WorkloadActionVerb;
}

export type WorkKind = "task" | "workflow" | "workload";
export type WorkMistakes = Partial<Record<"workflow" | "values" | "workload", string>> & {
  task?: Partial<Record<keyof Draft, string>>;
};
export type WorkAction = Extract<
  Action,
  { task: unknown } | { workflow: unknown } | { workload: unknown }
>;

export function emptyWork(): WorkDraft {
  return { task: draftOf(undefined), workflow: "", values: "", workload: "", verb: "restart" };
}

/** What is meant, or every mistake. */
export function buildWork(
  kind: WorkKind,
  draft: WorkDraft,
): { action?: WorkAction; mistakes: WorkMistakes } {
  if (kind === "task") {
    const { body, mistakes } = buildTask(draft.task);
    if (!body) return { mistakes: { task: mistakes } };
    const { name, spec } = body;
    return { action: { task: { ...(name && { name }), spec } }, mistakes: {} };
  }
  if (kind === "workflow") {
    const name = draft.workflow.trim();
    const values = readValues(draft.values);
    const mistakes: WorkMistakes = {
      ...(name === "" && { workflow: "Say which workflow." }),
      ...(!values.ok && { values: values.error }),
    };
    if (name === "" || !values.ok) return { mistakes };
    const given = values.value === undefined ? {} : { values: values.value };
    return { action: { workflow: { name, ...given } }, mistakes };
  }
  const name = draft.workload.trim();
  if (!isName(name)) return { mistakes: { workload: "Say which workload, by its name." } };
  return { action: { workload: { name, verb: draft.verb } }, mistakes: {} };
}

/** The words behind `--` of a task that needs no flags of its own; `undefined` where it does. */
export function bareCommand(action: WorkAction): readonly string[] | undefined {
  if (!("task" in action)) return undefined;
  const { name, spec } = action.task;
  const isBare =
    !name && Object.entries(spec).every(([key, value]) => key === "command" || value === undefined);
  return isBare ? (spec.command ?? []) : undefined;
}

/** A task with its flags, as it stands behind `hostler schedule add … task`. */
export function taskWords(action: Extract<Action, { task: unknown }>): string {
  const { name, spec } = action.task;
  return taskRun({ ...(name && { name }), spec }, "default").replace(/^hostler run ?/, "");
}
