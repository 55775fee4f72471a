// Addresses of what happens, what is done by itself, and what programs share: events, schedules, hooks,
// watchers, state, locks.

import { OBJECT_KINDS } from "./access-route";
import { search } from "./api/http";
import type { ObjectKind } from "./api/types";

export interface SchedulesRoute {
  page: "schedules";
  project: string;
  schedule?: string;
  /** An expression that has to hold. */
  filter?: string;
}

export interface HooksRoute {
  page: "hooks";
  project: string;
  /** Those of the whole installation instead of the project. */
  isGlobal?: true;
  hook?: string;
}

export interface WatchersRoute {
  page: "watchers";
  project: string;
  watcher?: string;
}

export interface StateRoute {
  page: "state";
  project: string;
  namespace?: string;
  /** Only keys that begin so. */
  prefix?: string;
  key?: string;
}

export interface LocksRoute {
  page: "locks";
  project: string;
  /** Also those that nobody holds or waits for. */
  all?: true;
  lock?: string;
}

export interface EventsRoute {
  page: "events";
  project: string;
  /** Of everything that one may see instead of the project. */
  isGlobal?: true;
  kind?: string;
  object?: ObjectKind;
  /** Of the object. */
  id?: string;
  /** An expression that has to hold. */
  filter?: string;
  /** The number of the one that is shown. */
  event?: number;
}

export type AutomationRoute =
  SchedulesRoute | HooksRoute | WatchersRoute | StateRoute | LocksRoute | EventsRoute;

export function parseAutomation(
  parts: string[],
  asked: URLSearchParams,
): AutomationRoute | undefined {
  const [first, project, noun, name, inner] = parts;
  if (first !== "projects" || !project) return undefined;
  if (noun === "schedules") {
    const filter = asked.get("filter");
    return {
      page: "schedules",
      project,
      ...(name && { schedule: name }),
      ...(filter && { filter }),
    };
  }
  if (noun === "hooks")
    return {
      page: "hooks",
      project,
      ...(asked.get("of") === "installation" && { isGlobal: true }),
      ...(name && { hook: name }),
    };
  if (noun === "watchers") return { page: "watchers", project, ...(name && { watcher: name }) };
  if (noun === "state") {
    if (!name) return { page: "state", project };
    const prefix = asked.get("prefix");
    return {
      page: "state",
      project,
      namespace: name,
      ...(prefix && { prefix }),
      ...(inner && { key: inner }),
    };
  }
  if (noun === "locks")
    return {
      page: "locks",
      project,
      ...(asked.get("all") === "true" && { all: true }),
      ...(name && { lock: name }),
    };
  if (noun === "events") return parseEvents(project, name, asked);
  return undefined;
}

function parseEvents(
  project: string,
  name: string | undefined,
  asked: URLSearchParams,
): EventsRoute {
  const object = OBJECT_KINDS.find((one) => one === asked.get("object"));
  const [kind, id, filter] = [asked.get("kind"), asked.get("id"), asked.get("filter")];
  return {
    page: "events",
    project,
    ...(asked.get("of") === "all" && { isGlobal: true }),
    ...(kind && { kind }),
    ...(object && { object }),
    ...(id && { id }),
    ...(filter && { filter }),
    ...(name && /^\d{1,15}$/.test(name) && { event: Number(name) }),
  };
}

export function formatAutomation(route: AutomationRoute): string {
  const head = `#/projects/${encodeURIComponent(route.project)}/${route.page}`;
  switch (route.page) {
    case "schedules":
      return `${head}${tail(route.schedule)}${search({ filter: route.filter })}`;
    case "hooks":
      return `${head}${tail(route.hook)}${search({ of: route.isGlobal ? "installation" : undefined })}`;
    case "watchers":
      return `${head}${tail(route.watcher)}`;
    case "state": {
      const { namespace, key, prefix } = route;
      if (!namespace) return head;
      return `${head}${tail(namespace)}${tail(key)}${search({ prefix })}`;
    }
    case "locks":
      return `${head}${tail(route.lock)}${search({ all: route.all })}`;
    case "events": {
      const { kind, object, id, filter, event } = route;
      const asked = search({ of: route.isGlobal ? "all" : undefined, kind, object, id, filter });
      return `${head}${tail(event === undefined ? undefined : String(event))}${asked}`;
    }
  }
}

function tail(name: string | undefined): string {
  return name ? `/${encodeURIComponent(name)}` : "";
}
