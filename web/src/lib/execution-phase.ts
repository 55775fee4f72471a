// What is done for the stack of an execution, in words.
import type { ExecutionPhaseView } from "./api/types";
import { statusLook } from "./workflow";
import { length, type Look } from "./words";

const LOOKS: Record<string, Look> = {
  held: { word: "Held", icon: "check", tone: "busy" },
  released: { word: "Released", icon: "check", tone: "good" },
  warned: { word: "Warned", icon: "alert", tone: "wait" },
  lost: { word: "Lost", icon: "cross", tone: "bad" },
};

const WORDS: Record<string, string> = {
  lock: "Lock",
  validate: "Checklist",
  drift: "Drift before",
  snapshot: "Snapshot",
  "drift-after": "Drift after",
  rollback: "Rollback",
};

export function phaseLook({ status }: ExecutionPhaseView): Look {
  return LOOKS[status] ?? statusLook(status);
}

/** A phase that is not known here is shown as it is called. */
export function phaseWord(phase: string): string {
  return WORDS[phase] ?? phase;
}

/** How long a phase has taken, or took; a lock has been held for so long. */
export function phaseTook({ standing }: ExecutionPhaseView, now: number): string {
  if (typeof standing === "string") return "";
  const times: { since: string; at?: string } =
    "ended" in standing ? standing.ended : "held" in standing ? standing.held : standing.running;
  const end = times.at === undefined ? now : Date.parse(times.at);
  return length(end - Date.parse(times.since));
}
