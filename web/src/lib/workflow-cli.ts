// The command line's way of doing what the pages of workflows and executions do.

import type { WorkflowRunBody } from "./api/types";
import { quoteCommand } from "./argv";
import { stemOf } from "./module";
import { isSomething } from "./workflow";
import type { ExecutionsRoute } from "./workflow-route";

function command(words: readonly string[], project: string): string {
  const scope = project === "default" ? [] : ["-p", project];
  return quoteCommand(["hostler", "workflow", ...words, ...scope]);
}

/** Of a workflow where it has a name, of an execution where it has an id. */
export function workflowVerb(
  verb: "ls" | "show" | "rm" | "logs" | "cancel",
  what: string | undefined,
  project: string,
): string {
  return command([verb, ...(what === undefined ? [] : [what])], project);
}

export function workflowPush(file: string, strict: boolean, project: string): string {
  return command(["push", file, ...(strict ? ["--strict"] : [])], project);
}

export function moduleVerb(
  verb: "ls" | "show" | "rm",
  module: string | undefined,
  project: string,
): string {
  return command(["module", verb, ...(module === undefined ? [] : [module])], project);
}

/** A name is said only where it is not that of the file. */
export function modulePush(file: string, name: string, strict: boolean, project: string): string {
  const words = ["module", "push", file];
  if (name && name !== stemOf(file)) words.push("--name", name);
  if (strict) words.push("--strict");
  return command(words, project);
}

export function moduleVersions(module: string, project: string): string {
  return command(["module", "ls", "--versions", module], project);
}

export function workflowVersions(workflow: string, project: string): string {
  return command(["ls", "--versions", workflow], project);
}

/** Values are given in a file, whatever they are. */
export function workflowRun(
  workflow: string,
  { version, values, options = {} }: WorkflowRunBody,
  approval: string,
  project: string,
): string {
  const words = ["run", workflow];
  const each = (flag: string, names: readonly string[] | undefined): void =>
    names?.forEach((name) => words.push(flag, name));
  if (version) words.push("--version", String(version));
  if (isSomething(values)) words.push("--values", "values.json");
  each("--task", options.only);
  each("--delegate-to", options.delegateTo);
  each("--secret", options.secrets);
  if (approval) words.push("--approval", approval);
  return command(words, project);
}

export function executionList({ project, workflow, open, filter }: ExecutionsRoute): string {
  const words = ["executions"];
  if (workflow) words.push("--workflow", workflow);
  if (open) words.push("--open");
  if (filter) words.push("--filter", filter);
  return command(words, project);
}

export function executionRetry(
  id: string,
  { from, uncertain }: { from: string | undefined; uncertain: boolean },
  project: string,
): string {
  const words = ["retry", id];
  if (from) words.push("--from", from);
  if (uncertain) words.push("--repeat-uncertain");
  return command(words, project);
}

export function stepVerb(
  verb: "logs" | "output",
  id: string,
  step: string,
  project: string,
): string {
  return command([verb, id, step], project);
}
