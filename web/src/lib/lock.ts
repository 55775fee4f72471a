// Locks: how they stand, who holds them, and the commands that do the same.

import type { LockEnd, LockHoldView, LockView } from "./api/types";
import { quoteCommand } from "./argv";
import type { Look } from "./words";

export const LOCK_ENDS: Record<LockEnd, Look> = {
  released: { word: "Released", icon: "check", tone: "good" },
  expired: { word: "Expired", icon: "clock", tone: "wait" },
  forced: { word: "Taken away", icon: "alert", tone: "bad" },
};

export function lockLook({ held, waiting, slots }: LockView): Look {
  if (waiting > 0) return { word: "Waited for", icon: "clock", tone: "wait" };
  if (held >= slots) return { word: "Held", icon: "check", tone: "busy" };
  if (held > 0) return { word: "Partly held", icon: "check", tone: "busy" };
  return { word: "Free", icon: "stop", tone: "muted" };
}

/** `ada on web-1 (pid 7)`. */
export function holderWords({ by, holder }: Pick<LockHoldView, "by" | "holder">): string {
  const pid = holder.pid ? ` (pid ${holder.pid})` : "";
  return holder.host ? `${by} on ${holder.host}${pid}` : `${by}${pid}`;
}

/** What it is for, or else what it runs. */
export function purpose({ holder }: Pick<LockHoldView, "holder">): string {
  return holder.why || holder.command || "";
}

/** Who holds it, in a few words. */
export function holdersWords({ holders, held }: LockView): string {
  const [first] = holders;
  if (!first) return "";
  return held > 1 ? `${holderWords(first)} and ${held - 1} more` : holderWords(first);
}

/** Since when somebody holds it: the longest of those who do. */
export function heldSince({ holders }: Pick<LockView, "holders">): string | undefined {
  const times = holders.flatMap(({ timeGranted }) => (timeGranted ? [timeGranted] : []));
  return times.toSorted((a, b) => Date.parse(a) - Date.parse(b))[0];
}

/** What follows `force-release`. */
export function forceWords(
  reason: string,
  hold: Pick<LockHoldView, "id"> | undefined,
  approval: string,
): string[] {
  return [
    ...(hold ? ["--hold", hold.id] : []),
    "--reason",
    reason.trim() || "…",
    ...(approval.trim() ? ["--approval", approval.trim()] : []),
  ];
}

export function lockCommand(
  verb: "ls" | "show" | "force-release",
  lock: string | undefined,
  project: string,
  more: readonly string[] = [],
): string {
  const scope = project === "default" ? [] : ["-p", project];
  return quoteCommand(["hostler", "lock", verb, ...(lock ? [lock] : []), ...scope, ...more]);
}
