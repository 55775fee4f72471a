// State: how values are shown, what a change does to a list, and the commands that do the same.

import type { StateChangeKind, StateChangeView, StateEntryView } from "./api/types";
import { quoteCommand } from "./argv";
import type { Look } from "./words";

export const VALUE_MAX = 1 << 20;
export const KEY_MAX = 512;
/** Longer text is shown in part: browsers are slow with it, and people do not read it. */
const SHOWN_MAX = 64 << 10;
const HEX_MAX = 4096;
const SNIPPET = 80;
/** How many of the newest changes are kept to be looked at. */
const CHANGES_MAX = 200;

export const CHANGES: Record<StateChangeKind, Look> = {
  put: { word: "Set", icon: "check", tone: "good" },
  touched: { word: "Time changed", icon: "clock", tone: "busy" },
  deleted: { word: "Deleted", icon: "trash", tone: "bad" },
  expired: { word: "Expired", icon: "clock", tone: "muted" },
};

interface Valued {
  value?: string | null;
  encoding?: "text" | "base64" | null;
}

export interface Shown {
  form: "JSON" | "text" | "binary";
  text: string;
  /** Whether there is more than is shown. */
  isCut: boolean;
}

/** A value as people read it: JSON in lines, text as it stands, anything else in hexadecimal. */
export function shownValue({ value, encoding }: Valued): Shown {
  const given = value ?? "";
  if (encoding === "base64") {
    const bytes = Uint8Array.from(atob(given), (one) => one.charCodeAt(0));
    return {
      form: "binary",
      text: dump(bytes.subarray(0, HEX_MAX)),
      isCut: bytes.length > HEX_MAX,
    };
  }
  const pretty = given.length <= SHOWN_MAX && /^\s*[[{]/.test(given) ? jsonOf(given) : undefined;
  if (pretty !== undefined) return { form: "JSON", text: pretty, isCut: false };
  return { form: "text", text: given.slice(0, SHOWN_MAX), isCut: given.length > SHOWN_MAX };
}

function jsonOf(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return undefined;
  }
}

/** Sixteen bytes a line: where, in hexadecimal, and as letters. */
function dump(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const part = [...bytes.subarray(at, at + 16)];
    const hex = part.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const letters = part.map((byte) =>
      byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".",
    );
    lines.push(`${at.toString(16).padStart(6, "0")}  ${hex.padEnd(47)}  ${letters.join("")}`);
  }
  return lines.join("\n");
}

/** The beginning of a value, on one line. */
export function snippet({ value, encoding }: Valued): string {
  if (value === undefined || value === null) return "";
  if (encoding === "base64") return "(binary)";
  const line = value.slice(0, SNIPPET + 1).replaceAll(/\s+/g, " ");
  return value.length > SNIPPET ? `${line.slice(0, SNIPPET)}…` : line;
}

export function sizeOf({ value, encoding }: Valued): number {
  const given = value ?? "";
  return encoding === "base64" ? atob(given).length : new TextEncoder().encode(given).length;
}

/**
 * A list of entries by key after a change. Where more follow that were not listed, what would stand
 * behind the last one is left to be listed.
 */
export function changed(
  entries: readonly StateEntryView[],
  change: StateChangeView,
  hasMore: boolean,
): StateEntryView[] {
  const { key } = change;
  const before = entries.find((one) => one.key === key);
  if (before && before.revision >= change.revision) return [...entries];
  const others = entries.filter((one) => one.key !== key);
  if (change.kind === "deleted" || change.kind === "expired") return others;
  const last = entries.at(-1)?.key;
  if (!before && hasMore && (last === undefined || key > last)) return others;
  if (!before && change.kind === "touched") return others;
  const entry: StateEntryView = {
    namespace: change.namespace,
    key,
    size: change.kind === "put" ? sizeOf(change) : (before?.size ?? 0),
    revision: change.revision,
    createRevision: change.createRevision,
    version: change.version,
    owner: change.owner,
    timeCreated: before?.timeCreated ?? change.time,
    timeModified: change.time,
    ...(change.timeExpires && { timeExpires: change.timeExpires }),
  };
  const at = others.findIndex((one) => one.key > key);
  return at < 0 ? [...others, entry] : others.toSpliced(at, 0, entry);
}

/** The newest changes, newest first. */
export function withChange(
  changes: readonly StateChangeView[],
  change: StateChangeView,
): StateChangeView[] {
  return [change, ...changes].slice(0, CHANGES_MAX);
}

/** What is wrong with a key, in words; empty where nothing is. */
export function keyMistake(key: string): string {
  if (key === "") return "A key has one character at least.";
  if (new TextEncoder().encode(key).length > KEY_MAX) return "A key has 512 bytes at most.";
  // eslint-disable-next-line no-control-regex -- they are what is looked for
  return /[\u0000-\u001f\u007f]/.test(key) ? "A key has no control characters." : "";
}

export function sizeMistake(size: number): string {
  return size > VALUE_MAX ? "A value has 1 MiB at most." : "";
}

export type StateVerb =
  "namespaces" | "ls" | "get" | "set" | "rm" | "ttl" | "history" | "watch" | "clear";

export function stateCommand(
  verb: StateVerb,
  words: readonly string[],
  { namespace, project }: { namespace?: string | undefined; project: string },
  more: readonly string[] = [],
): string {
  const at = namespace === undefined || namespace === "default" ? [] : ["-n", namespace];
  const scope = project === "default" ? [] : ["-p", project];
  return quoteCommand(["hostler", "state", verb, ...words, ...at, ...scope, ...more]);
}
