// Events: how they look, what narrows them, what caused them, and the commands that show the same.

import { OBJECT_KINDS } from "./access-route";
import type { EventKind, EventView } from "./api/types";
import { quoteCommand } from "./argv";
import type { EventsRoute } from "./automation-route";
import type { Look, Tone } from "./words";

/** How many of the newest are kept while somebody looks. */
export const EVENTS_KEPT = 1000;

// By what comes after the noun; what is not here is neither good nor bad.
const TONES: Record<string, [Look["icon"], Tone]> = {
  failed: ["cross", "bad"],
  lost: ["question", "bad"],
  oom: ["alert", "bad"],
  offline: ["cross", "bad"],
  trouble: ["alert", "bad"],
  "crash-loop": ["alert", "bad"],
  vanished: ["question", "bad"],
  unhealthy: ["alert", "bad"],
  "dead-letter": ["cross", "bad"],
  "loop-cut": ["alert", "bad"],
  unopened: ["alert", "bad"],
  exposed: ["alert", "bad"],
  throttled: ["alert", "bad"],
  "break-glass": ["alert", "bad"],
  stale: ["clock", "wait"],
  missed: ["clock", "wait"],
  expired: ["clock", "wait"],
  forced: ["alert", "wait"],
  killed: ["stop", "wait"],
  refused: ["cross", "wait"],
  denied: ["cross", "wait"],
  rejected: ["cross", "wait"],
  paused: ["pause", "wait"],
  cordoned: ["pause", "wait"],
  completed: ["check", "good"],
  succeeded: ["check", "good"],
  online: ["check", "good"],
  healthy: ["check", "good"],
  well: ["check", "good"],
  approved: ["check", "good"],
  accepted: ["check", "good"],
  found: ["check", "good"],
  joined: ["plug", "good"],
  started: ["play", "busy"],
  fired: ["play", "busy"],
  resumed: ["play", "busy"],
  restarted: ["repeat", "busy"],
  removed: ["trash", "muted"],
};

export function eventLook(kind: string): Look {
  const verb = kind.slice(kind.indexOf(".") + 1);
  const last = verb.slice(verb.lastIndexOf("-") + 1);
  const [icon, tone] = TONES[verb] ?? TONES[last] ?? (["arrow", "muted"] as const);
  return { word: kind, icon, tone };
}

/** `task web`, or the id where there is no name. */
export function aboutWords({ object }: Pick<EventView, "object">): string {
  return `${object.kind} ${object.name || object.id}`;
}

export type Cause =
  | { by: "execution" | "task" | "workload" | "fire"; id: string }
  | { by: "hook"; id: string; sequence: number }
  | { by: "request"; id: string };

/** What caused an event: `execution/ID`, `task/ID`, `fire/ID/TIME`, `hook/ID/SEQUENCE`, or the id of a request. */
export function causeOf(correlation: string | null | undefined): Cause | undefined {
  if (!correlation) return undefined;
  const [by, id, sequence] = correlation.split("/");
  if ((by === "execution" || by === "task" || by === "workload" || by === "fire") && id)
    return { by, id };
  if (by === "hook" && id && sequence && /^\d+$/.test(sequence))
    return { by, id, sequence: Number(sequence) };
  return { by: "request", id: correlation };
}

/** The expression for everything that the same thing caused. */
export function sameCause(correlation: string): string {
  return `correlation == ${JSON.stringify(correlation)}`;
}

type Narrowing = Pick<EventsRoute, "kind" | "object" | "id" | "filter">;
export type EventForm = Record<keyof Narrowing, string>;

export function formOf({ kind, object, id, filter }: Narrowing): EventForm {
  return { kind: kind ?? "", object: object ?? "", id: id ?? "", filter: filter ?? "" };
}

/** What was typed, without what is empty. */
export function narrowingOf(form: EventForm): Narrowing {
  const [kind, id, filter] = [form.kind.trim(), form.id.trim(), form.filter.trim()];
  const object = OBJECT_KINDS.find((one) => one === form.object);
  return {
    ...(kind && { kind }),
    ...(object && { object }),
    ...(id && { id }),
    ...(filter && { filter }),
  };
}

export function isNarrowed(route: Narrowing): boolean {
  return Object.keys(narrowingOf(formOf(route))).length > 0;
}

/** The query that the server takes. It says itself which kinds there are, when one is not. */
export function eventQuery(route: Narrowing & Pick<EventsRoute, "project" | "isGlobal">) {
  const { kind, object, id, filter, project, isGlobal } = route;
  return {
    kind: kind as EventKind | undefined,
    object,
    id,
    filter,
    project: isGlobal ? undefined : project,
  };
}

export function eventCommand(verb: "ls" | "watch", route: Omit<EventsRoute, "page">): string {
  const words = ["hostler", "event", verb];
  for (const key of ["kind", "object", "id", "filter"] as const) {
    const value = route[key];
    if (value) words.push(`--${key}`, value);
  }
  if (!route.isGlobal) words.push("-p", route.project);
  return quoteCommand(words);
}

/** Both together, newest first, no more than are kept. */
export function together(
  held: readonly EventView[],
  more: readonly EventView[],
  most = EVENTS_KEPT,
): EventView[] {
  const all = new Map([...held, ...more].map((one) => [one.sequence, one]));
  return [...all.values()].sort((a, b) => b.sequence - a.sequence).slice(0, most);
}
