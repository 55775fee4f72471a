// Secrets: names, values and commands. A value is bytes; it is text only where it is valid UTF-8.

import type { SecretView } from "./api/types";
import { quoteCommand } from "./argv";
import { isName } from "./fields";

export const VALUE_MAX = 64 * 1024;

/** `db` and `prod/db`; `undefined` where it is no such name. */
export function readReference(text: string): { environment: string; name: string } | undefined {
  const parts = text.split("/");
  const [environment = "", name = ""] = parts.length === 1 ? ["default", parts[0]] : parts;
  if (parts.length > 2 || !isName(environment) || !isName(name)) return undefined;
  return { environment, name };
}

export function referenceOf(environment: string, name: string): string {
  return environment === "default" ? name : `${environment}/${name}`;
}

/** The value of an answer: as text where it is text, as hexadecimal where it is not. */
export function shownValue(base64: string): { text: string; isText: boolean } {
  const bytes = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, isText: true };
  } catch {
    const text = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    return { text, isText: false };
  }
}

/** What is wrong with a value, in words; empty where nothing is. */
export function valueMistake(size: number): string {
  if (size === 0) return "A value has one byte at least.";
  return size > VALUE_MAX ? "A value has 64 KiB at most." : "";
}

export type SecretVerb = "ls" | "set" | "rotate" | "get" | "versions" | "rm";

export function secretCommand(
  verb: SecretVerb,
  secret: string | undefined,
  project: string,
  more: readonly string[] = [],
): string {
  const scope = project === "default" ? [] : ["-p", project];
  const words = ["hostler", "secret", verb, ...(secret ? [secret] : []), ...scope, ...more];
  return quoteCommand(words);
}

export function byEnvironment(a: SecretView, b: SecretView): number {
  return a.environment.localeCompare(b.environment) || a.name.localeCompare(b.name);
}
