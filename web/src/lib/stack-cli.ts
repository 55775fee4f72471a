// The command line's way of doing what the pages of stacks do.

import { quoteCommand } from "./argv";
import type { StackFilter } from "./stack-route";

/** `hostler stack VERB…`, in the project, with the approval that it needs. */
export function stackCommand(
  words: readonly (string | undefined)[],
  project: string,
  approval = "",
): string {
  const said = words.filter((word) => word !== undefined);
  const scope = project === "default" ? [] : ["-p", project];
  const held = approval.trim() ? ["--approval", approval.trim()] : [];
  return quoteCommand(["hostler", "stack", ...said, ...scope, ...held]);
}

/** The flag that says why. */
export function whyWords(why: string): string[] {
  return why.trim() ? ["-m", why.trim()] : [];
}

export function stackList(
  { status, tag, nested, deleted, filter }: StackFilter,
  project: string,
): string {
  return stackCommand(
    [
      "ls",
      ...(status ? ["--status", status] : []),
      ...(tag ? ["--tag", tag] : []),
      ...(nested ? ["--nested"] : []),
      ...(deleted ? ["--deleted"] : []),
      ...(filter ? ["--filter", filter] : []),
    ],
    project,
  );
}

/** What the form says besides its texts. */
export interface StackSaid {
  name: string;
  /** Names of files that stand for what was typed. */
  environment: boolean;
  /** Those that are not hidden, as they were typed. */
  parameters: Readonly<Record<string, string>>;
  /** Names of hidden ones, which come from files. */
  secrets: readonly string[];
  isRollbackEnabled: boolean | undefined;
  timeout: string;
  tags: readonly string[] | undefined;
  converges: boolean;
  atOnce: string;
  driftEvery: string;
  why?: string;
}

/** Secrets are never part of a command. */
export function stackApply(verb: "plan" | "apply", said: StackSaid, project: string): string {
  const { name, parameters, secrets, isRollbackEnabled, timeout, tags } = said;
  const words = [verb, "template.yaml"];
  if (name) words.push("--name", name);
  if (said.environment) words.push("-e", "environment.yaml");
  for (const [key, value] of Object.entries(parameters)) words.push("-P", `${key}=${value}`);
  for (const key of secrets) words.push("--parameter-file", `${key}=${key}.txt`);
  if (isRollbackEnabled !== undefined)
    words.push(isRollbackEnabled ? "--rollback" : "--no-rollback");
  if (timeout) words.push("--timeout", timeout);
  if (tags) words.push("--tag", tags.join(","));
  if (said.converges) words.push("--converge");
  if (said.atOnce) words.push("--at-once", said.atOnce);
  if (said.driftEvery) words.push("--drift-every", said.driftEvery);
  words.push(...whyWords(said.why ?? ""));
  return stackCommand(words, project);
}

/** The command that compares two points of the history of a stack, where there is one. */
export function stackCompare(
  stack: string,
  from: string,
  to: string,
  project: string,
): string | undefined {
  const number = (point: string): string | undefined => /^v(\d+)$/.exec(point)?.[1];
  const [one, other] = [number(from), number(to)];
  if (one === undefined)
    return to === "now" && from !== "now"
      ? stackCommand(["snapshot", "compare", stack, from], project)
      : undefined;
  if (to === "now") return stackCommand(["revision", "compare", stack, one], project);
  if (other === undefined) return undefined;
  return stackCommand(["revision", "compare", stack, one, other], project);
}

export function stackRestore(
  stack: string,
  point: string,
  project: string,
  approval = "",
  why = "",
): string {
  const number = /^v(\d+)$/.exec(point)?.[1];
  return number === undefined
    ? stackCommand(["snapshot", "restore", stack, point, ...whyWords(why)], project, approval)
    : stackCommand(["revision", "restore", stack, number, ...whyWords(why)], project, approval);
}
