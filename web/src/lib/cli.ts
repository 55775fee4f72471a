// The command line's way of doing what the dashboard does, to be copied.

import type { TaskSubmitBody } from "./api/types";
import { quoteCommand, quoteWord } from "./argv";
import { exactBytes } from "./fields";
import type { LogsQuery } from "./logs-query";
import type { WorkloadFilter, WorkloadVerb } from "./workload";

function scoped(words: string[], project: string): string[] {
  return project === "default" ? words : [...words, "-p", project];
}

export function taskVerb(
  verb: "kill" | "logs" | "explain" | "get" | "rm",
  task: string,
  project: string,
): string {
  return quoteCommand(scoped(["hostler", "task", verb, task], project));
}

export function taskList(project: string, state: string | undefined): string {
  const words = scoped(["hostler", "task", "ls"], project);
  return quoteCommand(state === undefined ? words : [...words, "--state", state]);
}

export function workloadVerb(
  verb: WorkloadVerb | "apply" | "explain" | "get" | "history" | "next" | "show",
  workload: string,
  project: string,
): string {
  const words = verb === "apply" ? ["-f", `${workload}.yaml`] : [workload];
  return quoteCommand(scoped(["hostler", "workload", verb, ...words], project));
}

export function workloadList(project: string, { state, tag }: WorkloadFilter): string {
  const words = scoped(["hostler", "workload", "ls"], project);
  if (state) words.push("--phase", state);
  if (tag) words.push("--tag", tag);
  return quoteCommand(words);
}

export function workloadLogs(workload: string, project: string, query: LogsQuery): string {
  const words = ["hostler", "workload", "logs", workload];
  if (query.isFollowed) words.push("-f");
  if (query.node) words.push("--node", query.node);
  if (query.run) words.push("--run", query.run);
  if (query.since) words.push("--since", query.since);
  if (query.grep) words.push("--grep", query.grep);
  return quoteCommand(scoped(words, project));
}

export function nodeCordon(node: string, reason: string): string {
  return quoteCommand(["hostler", "node", "cordon", node, "--reason", reason]);
}

export function taskRun({ name, spec }: TaskSubmitBody, project: string): string {
  const words = scoped(["hostler", "run"], project);
  const flag = (key: string, value: string | null | undefined): void => {
    if (value !== undefined && value !== null && value !== "") words.push(key, value);
  };
  flag("--name", name);
  for (const [key, value] of Object.entries(spec.env ?? {})) words.push("--env", `${key}=${value}`);
  flag("--workdir", spec.workdir);
  flag("--user", spec.user);
  flag("--timeout", spec.timeout);
  if (spec.resources?.cores !== undefined) flag("--cores", String(spec.resources.cores));
  if (spec.resources?.memory) flag("--memory", exactBytes(spec.resources.memory));
  flag("--node", spec.placement?.node);
  const selector = Object.entries(spec.placement?.selector ?? {});
  if (selector.length > 0) words.push("-l", selector.map(([k, v]) => `${k}=${v}`).join(","));
  return [...words.map(quoteWord), "--", quoteCommand(spec.command)].join(" ");
}
