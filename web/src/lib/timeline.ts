// Timelines: how their rows look, where they lead, and the command that shows the same.

import type { TimelineEntry, TimelineSource, TimelineView } from "./api/types";
import { quoteCommand } from "./argv";
import { eventLook } from "./event";
import { DELIVERY_STATES } from "./hook";
import { objectRoute } from "./object-route";
import type { Route } from "./route";
import { FIRE_STATES } from "./schedule";
import type { Look } from "./words";

/** What has a timeline here. */
export interface TimelineOf {
  kind: "task" | "workload" | "schedule" | "watcher" | "node";
  id: string;
  name: string;
}

export const SOURCES: Record<TimelineSource, string> = {
  event: "events",
  node: "events of its nodes",
  run: "runs",
  fire: "times of schedules",
  delivery: "deliveries of hooks",
  audit: "audit entries",
};

export const SOURCE_KINDS = Object.keys(SOURCES) as TimelineSource[];

const PLAIN: Look = { word: "", icon: "arrow", tone: "muted" };
const LOOKS: Partial<Record<TimelineSource, Record<string, Look>>> = {
  run: {
    ended: { ...PLAIN, icon: "stop" },
    lost: { ...PLAIN, icon: "question", tone: "odd" },
  },
  fire: FIRE_STATES,
  delivery: DELIVERY_STATES,
  audit: {},
};

/** What happened, as it looks wherever it is shown. */
export function entryLook({ source, what }: Pick<TimelineEntry, "source" | "what">): Look {
  const looks = LOOKS[source];
  if (!looks) return eventLook(what);
  return { ...(looks[what.slice(what.indexOf(".") + 1)] ?? PLAIN), word: what };
}

/** Rows of different sources may have the same id. */
export function entryKey({ source, id }: Pick<TimelineEntry, "source" | "id">): string {
  return `${source} ${id}`;
}

/** Where a row leads; `undefined` where there is no page of it. */
export function entryRoute(entry: TimelineEntry, project: string): Route | undefined {
  switch (entry.source) {
    case "event":
    case "node":
      return { page: "events", project, isGlobal: true, event: Number(entry.id) };
    case "audit":
      return { page: "audit", text: entry.cause ?? entry.id };
    case "run":
      return undefined;
    case "fire":
    case "delivery":
      return objectRoute(entry.object, project);
  }
}

/** What a row is about, where that is something else than what the timeline is of. */
export function otherWords({ object }: TimelineEntry, of: TimelineOf): string {
  if (object.kind === of.kind && object.id === of.id) return "";
  return `${object.kind} ${object.name || object.id}`;
}

/** What is not there although it was asked for, in sentences. */
export function remarks({ leftOut }: Pick<TimelineView, "leftOut">): string[] {
  return (leftOut ?? []).map(
    ({ source, needs }) => `Without ${SOURCES[source]}: seeing them takes ${needs}.`,
  );
}

export function timelineCommand(of: TimelineOf, project: string, source = ""): string {
  const words = ["hostler", "timeline", `${of.kind}/${of.name || of.id}`];
  if (source) words.push("--source", source);
  if (of.kind !== "node") words.push("-p", project);
  return quoteCommand(words);
}
