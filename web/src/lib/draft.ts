// The submit form as data: what is typed, and the task or array that it means.

import type { WorkloadSpec } from "./api/types";
import { quoteCommand, splitCommand } from "./argv";
import { exactBytes, isName, readBytes, readCores, readPairs, readSpan, type Read } from "./fields";
import { gpusText, readGpus } from "./gpus";
import { readRange } from "./range";

export interface Draft {
  command: string;
  isShell: boolean;
  name: string;
  /** Of an array; not asked for in the form of a task. */
  range: string;
  cores: string;
  memory: string;
  gpus: string;
  priority: string;
  image: string;
  timeout: string;
  node: string;
  selector: string;
  user: string;
  workdir: string;
  env: string;
}

/** The body of a submission; with a range, that of an array. */
export interface Submission {
  name?: string;
  spec: WorkloadSpec;
  range?: string;
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
    range: "",
    cores: spec?.resources?.cores === undefined ? "" : String(spec.resources.cores),
    memory: memory ? exactBytes(memory) : "",
    gpus: gpusText(spec?.resources?.gpus),
    priority: spec?.queue?.priority ? String(spec.queue.priority) : "",
    image: spec?.container?.image ?? "",
    timeout: spec?.timeout ?? "",
    node: spec?.placement?.node ?? "",
    selector: pairs(spec?.placement?.selector, ","),
    user: spec?.user ?? "",
    workdir: spec?.workdir ?? "",
    env: pairs(spec?.env, "\n"),
  };
}

/**
 * What the form means, or every mistake in it. `base` gives what the form has no field for; an array
 * needs a range.
 */
export function buildTask(
  draft: Draft,
  base?: WorkloadSpec,
  isArray = false,
): { body?: Submission; mistakes: Mistakes } {
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

  const image = plain("image");
  const command = argvOf(draft, image !== undefined || Boolean(base?.python), mistakes);
  const name = plain("name");
  if (name !== undefined && !isName(name))
    mistakes.name =
      "Use 1 to 63 lowercase letters, digits or “-”, beginning and ending with a letter or digit.";
  const range = isArray ? read("range", readRange)?.text : undefined;
  if (isArray && draft.range.trim() === "")
    mistakes.range = "Say which indexes, for example 1-100 or 1-1000%50.";
  const cores = read("cores", readCores);
  const memory = read("memory", readBytes);
  const gpus = read("gpus", readGpus);
  const priority = read("priority", readPriority);
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
    ...without(base?.resources, "cores", "memory", "gpus"),
    ...(cores !== undefined && { cores }),
    ...(memory !== undefined && { memory }),
    ...(gpus !== undefined && gpus !== 0 && { gpus }),
  };
  const placement = {
    ...without(base?.placement, "node", "selector"),
    ...(node !== undefined && { node }),
    ...(selector !== undefined && { selector }),
  };
  const queue = {
    ...without(base?.queue, "priority", "nodes"),
    ...(priority !== undefined && priority !== 0 && { priority }),
  };
  const spec: WorkloadSpec = {
    ...without(base, ...ASKED),
    ...(command.length > 0 && { command, python: undefined }),
    ...(env !== undefined && { env }),
    ...(workdir !== undefined && { workdir }),
    ...(user !== undefined && { user }),
    ...(timeout !== undefined && { timeout }),
    ...(image !== undefined && {
      runtime: "container" as const,
      container: { ...base?.container, image },
    }),
    ...(Object.keys(resources).length > 0 && { resources }),
    ...(Object.keys(placement).length > 0 && { placement }),
    ...(Object.keys(queue).length > 0 && { queue }),
  };
  const body = { ...(name !== undefined && { name }), spec, ...(range !== undefined && { range }) };
  return { body, mistakes };
}

/** What the form asks for, and so takes nothing of from elsewhere. */
const ASKED = [
  "command",
  "container",
  "env",
  "placement",
  "queue",
  "resources",
  "runtime",
  "timeout",
  "user",
  "workdir",
] as const;

export function without<T extends object, K extends keyof T>(
  from: T | undefined,
  ...keys: readonly K[]
): Partial<Omit<T, K>> {
  const left = Object.entries(from ?? {}).filter(([key]) => !keys.includes(key as K));
  return Object.fromEntries(left) as Partial<Omit<T, K>>;
}

/** -1000 to 1000. */
function readPriority(text: string): Read<number> {
  const value = Number(text);
  if (/^\s*[+-]?[0-9]{1,4}\s*$/.test(text) && Math.abs(value) <= 1000) return { ok: true, value };
  return { ok: false, error: "A priority is a whole number from -1000 to 1000." };
}

function argvOf(draft: Draft, isOptional: boolean, mistakes: Mistakes): string[] {
  if (draft.command.trim() === "") {
    if (!isOptional) mistakes.command = "Give a program and its arguments.";
    return [];
  }
  if (draft.isShell) return ["sh", "-c", draft.command];
  const split = splitCommand(draft.command);
  if (split.ok) return split.argv;
  mistakes.command = split.error;
  return [];
}
