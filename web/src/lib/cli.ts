// The command line's way of doing what the dashboard does, to be copied.

import { quoteCommand, quoteWord } from "./argv";
import type { Submission } from "./draft";
import { exactBytes } from "./fields";
import { gpusText } from "./gpus";
import type { LogsQuery } from "./logs-query";
import type { AccountsRoute } from "./route";
import type { TaskVerb } from "./task";
import type { WorkloadFilter, WorkloadVerb } from "./workload";

function scoped(words: string[], project: string): string[] {
  return project === "default" ? words : [...words, "-p", project];
}

export function taskVerb(
  verb: TaskVerb | "logs" | "explain" | "get" | "runs" | "outputs" | "download",
  task: string,
  project: string,
): string {
  return quoteCommand(scoped(["hostler", "task", verb, task], project));
}

export function taskList(
  project: string,
  {
    state,
    array,
    filter,
  }: { state: string | undefined; array: string | undefined; filter?: string | undefined },
): string {
  const words = scoped(["hostler", "task", "ls"], project);
  if (array !== undefined) words.push("--array", array);
  if (state !== undefined) words.push("--state", state);
  if (filter !== undefined) words.push("--filter", filter);
  return quoteCommand(words);
}

export function arrayVerb(
  verb: "get" | "kill" | "logs" | "wait" | "ls",
  array: string | undefined,
  project: string,
): string {
  const words = array === undefined ? [] : [array];
  return quoteCommand(scoped(["hostler", "task", "array", verb, ...words], project));
}

export function arrayRetry(array: string, project: string): string {
  return quoteCommand(scoped(["hostler", "task", "retry", "--array", array], project));
}

export function accountReport({ project, from, to }: Partial<AccountsRoute>): string {
  const words = ["hostler", "account"];
  if (project) words.push("-p", project);
  if (from) words.push("--from", from);
  if (to) words.push("--to", to);
  return quoteCommand(words);
}

export function workloadVerb(
  verb: WorkloadVerb | "apply" | "explain" | "get" | "history" | "next" | "show",
  workload: string,
  project: string,
): string {
  const words = verb === "apply" ? ["-f", `${workload}.yaml`] : [workload];
  return quoteCommand(scoped(["hostler", "workload", verb, ...words], project));
}

export function workloadList(project: string, { state, tag, filter }: WorkloadFilter): string {
  const words = scoped(["hostler", "workload", "ls"], project);
  if (state) words.push("--phase", state);
  if (tag) words.push("--tag", tag);
  if (filter) words.push("--filter", filter);
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

export function imageVerb(verb: "sync" | "rm", image: { name: string; version: number }): string {
  const name = `${image.name}:${image.version}`;
  return verb === "sync" ? `hostler image sync ${name} --all` : `hostler image rm ${name}`;
}

export function approvalVerb(
  verb: "approve" | "deny" | "withdraw" | "show",
  id: string,
  reason = "",
): string {
  const said = reason === "" ? [] : ["--reason", reason];
  return quoteCommand(["hostler", "approval", verb, id, ...said]);
}

export function blobVerb(verb: "show" | "rm", digest: string, project: string): string {
  return quoteCommand(scoped(["hostler", "blob", verb, digest], project));
}

export function blobList(project: string, kind: string | undefined): string {
  const words = scoped(["hostler", "blob", "ls"], project);
  if (kind) words.push("--kind", kind);
  return quoteCommand(words);
}

export function nodeCordon(node: string, reason: string): string {
  return quoteCommand(["hostler", "node", "cordon", node, "--reason", reason]);
}

/** `hostler run`, which shows the output, for a task; `hostler task submit` for an array. */
export function taskRun({ name, spec, range }: Submission, project: string): string {
  const words = scoped(["hostler", ...(range ? ["task", "submit"] : ["run"])], project);
  const flag = (key: string, value: string | number | null | undefined): void => {
    if (value !== undefined && value !== null && value !== "") words.push(key, String(value));
  };
  const tick = (key: string, isSet: boolean | undefined): void => {
    if (isSet) words.push(key);
  };
  const each = (key: string, values: readonly string[] | undefined): void =>
    values?.forEach((value) => words.push(key, value));
  const { resources = {}, placement = {}, queue = {}, container, limits } = spec;

  flag("--name", name);
  flag("--array", range);
  each(
    "--env",
    Object.entries(spec.env ?? {}).map(([key, value]) => `${key}=${value}`),
  );
  flag("--workdir", spec.workdir);
  flag("--user", spec.user);
  flag("--timeout", spec.timeout);
  each("--tag", spec.tags);
  flag("--cores", resources.cores);
  tick("--exclusive", resources.exclusive);
  if (resources.memory) flag("--memory", exactBytes(resources.memory));
  if (resources.disk) flag("--disk", exactBytes(resources.disk));
  flag("--gpus", gpusText(resources.gpus));
  flag("--numa", resources.numa);
  flag("--cpu-limit", limits?.cpu);
  if (limits?.memory) flag("--memory-limit", exactBytes(limits.memory));
  flag("--node", placement.node);
  const selector = Object.entries(placement.selector ?? {});
  if (selector.length > 0) words.push("-l", selector.map(([k, v]) => `${k}=${v}`).join(","));
  each("--constraint", placement.constraints);
  each("--prefer", placement.prefer);
  each("--together", placement.together);
  each("--apart", placement.apart);
  flag("--strategy", placement.strategy);
  flag("--over", placement.over);
  flag("--near", placement.near);
  if (queue.priority) flag("--priority", queue.priority);
  each(
    "--after",
    queue.after?.map(({ task, on = "ok" }) => (on === "ok" ? task : `${task}:${on}`)),
  );
  flag("--delay", queue.delay);
  flag("--start-at", queue.notBefore);
  flag("--start-within", queue.startWithin);
  if (queue.retry?.times) flag("--retries", queue.retry.times);
  tick("--preemptible", queue.preemptible);
  flag("--image", container?.image);
  if (container?.pull !== "missing") flag("--pull", container?.pull);
  each(
    "--mount",
    container?.mounts?.map(({ source, target, readOnly }) =>
      [source, target, ...(readOnly ? ["ro"] : [])].join(":"),
    ),
  );
  if (container?.network !== "bridge") flag("--network", container?.network);
  tick("--privileged", container?.privileged);
  each(
    "--keep",
    spec.outputs?.map(({ path, when }) => (when === "always" ? `${path}:always` : path)),
  );
  const command = quoteCommand(spec.command);
  return [...words.map(quoteWord), ...(command ? ["--", command] : [])].join(" ");
}
