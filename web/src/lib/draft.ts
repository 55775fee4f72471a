// The submit form as data: what is typed, and the task that it means.

import type { TaskSubmitBody, WorkloadSpec } from "./api/types";
import { quoteCommand, splitCommand } from "./argv";
import { exactBytes, isName, readBytes, readCores, readPairs, readSpan, type Read } from "./fields";

export interface Draft {
  command: string;
  isShell: boolean;
  name: string;
  cores: string;
  memory: string;
  timeout: string;
  node: string;
  selector: string;
  user: string;
  workdir: string;
  env: string;
}

export type Mistakes = { [K in keyof Draft]?: string };

/** An empty form, or one that says what a task said. */
export function draftOf(spec: WorkloadSpec | undefined): Draft {
  const command = spec?.command ?? [];
  const isShell = command.length === 3 && command[0] === "sh" && command[1] === "-c";
  const pairs = (map: Record<string, string> | undefined, separator: string): string =>
    Object.entries(map ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .join(separator);
  const memory = spec?.resources?.memory;
  return {
    command: isShell ? (command[2] ?? "") : quoteCommand(command),
    isShell,
    name: "",
    cores: spec?.resources?.cores === undefined ? "" : String(spec.resources.cores),
    memory: memory ? exactBytes(memory) : "",
    timeout: spec?.timeout ?? "",
    node: spec?.placement?.node ?? "",
    selector: pairs(spec?.placement?.selector, ","),
    user: spec?.user ?? "",
    workdir: spec?.workdir ?? "",
    env: pairs(spec?.env, "\n"),
  };
}

/** The task that the form means, or every mistake in it. `base` gives what the form has no field for. */
export function buildTask(
  draft: Draft,
  base?: WorkloadSpec,
): { body?: TaskSubmitBody; mistakes: Mistakes } {
  const mistakes: Mistakes = {};
  const read = <K extends keyof Draft, T>(
    key: K,
    reader: (text: string) => Read<T>,
  ): T | undefined => {
    const text = String(draft[key]);
    if (text.trim() === "") return undefined;
    const found = reader(text);
    if (found.ok) return found.value;
    mistakes[key] = found.error;
    return undefined;
  };
  const plain = (key: keyof Draft): string | undefined => String(draft[key]).trim() || undefined;

  const command = argvOf(draft, mistakes);
  const name = plain("name");
  if (name !== undefined && !isName(name))
    mistakes.name =
      "Use 1 to 63 lowercase letters, digits or “-”, beginning and ending with a letter or digit.";
  const cores = read("cores", readCores);
  const memory = read("memory", readBytes);
  const timeout = read("timeout", readSpan);
  const selector = read("selector", (text) => readPairs(text, /,/));
  const env = read("env", (text) => readPairs(text, /\n/));
  const workdir = plain("workdir");
  if (workdir !== undefined && !workdir.startsWith("/"))
    mistakes.workdir = "The working directory must be an absolute path.";
  const node = plain("node");
  const user = plain("user");
  if (Object.keys(mistakes).length > 0) return { mistakes };

  const resources = {
    ...(cores !== undefined && { cores }),
    ...(memory !== undefined && { memory }),
  };
  const placement = {
    ...(node !== undefined && { node }),
    ...(selector !== undefined && { selector }),
  };
  const spec: WorkloadSpec = {
    command,
    ...(base?.stop && { stop: base.stop }),
    ...(env !== undefined && { env }),
    ...(workdir !== undefined && { workdir }),
    ...(user !== undefined && { user }),
    ...(timeout !== undefined && { timeout }),
    ...(Object.keys(resources).length > 0 && { resources }),
    ...(Object.keys(placement).length > 0 && { placement }),
  };
  return { body: { ...(name !== undefined && { name }), spec }, mistakes };
}

function argvOf(draft: Draft, mistakes: Mistakes): string[] {
  if (draft.command.trim() === "") {
    mistakes.command = "Give a program and its arguments.";
    return [];
  }
  if (draft.isShell) return ["sh", "-c", draft.command];
  const split = splitCommand(draft.command);
  if (split.ok) return split.argv;
  mistakes.command = split.error;
  return [];
}
