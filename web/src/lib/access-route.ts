// Addresses of the pages about people and what they may do.

import { search } from "./api/http";
import type { ObjectKind } from "./api/types";

const KINDS: Record<ObjectKind, true> = {
  approval: true,
  "approval-policy": true,
  "audit-anchor": true,
  "audit-sink": true,
  authority: true,
  backup: true,
  blob: true,
  container: true,
  custom: true,
  execution: true,
  group: true,
  hook: true,
  image: true,
  invitation: true,
  "join-token": true,
  lock: true,
  member: true,
  module: true,
  node: true,
  operation: true,
  project: true,
  role: true,
  schedule: true,
  secret: true,
  server: true,
  "software-config": true,
  "software-deployment": true,
  stack: true,
  "stack-plugin": true,
  "state-namespace": true,
  task: true,
  "task-array": true,
  token: true,
  user: true,
  watcher: true,
  "web-session": true,
  workflow: true,
  workload: true,
};
export const OBJECT_KINDS = Object.keys(KINDS) as ObjectKind[];

export const PEOPLE_TABS = ["accounts", "members", "invitations"] as const;
export type PeopleTab = (typeof PEOPLE_TABS)[number];

export interface PeopleRoute {
  page: "people";
  project: string;
  tab?: PeopleTab;
  user?: string;
}

export interface RolesRoute {
  page: "roles";
  of: "roles" | "groups";
  name?: string;
}

export interface SecretsRoute {
  page: "secrets";
  project: string;
  /** `NAME` or `ENVIRONMENT/NAME`. */
  secret?: string;
}

export interface AuditRoute {
  page: "audit";
  actor?: string;
  action?: string;
  kind?: ObjectKind;
  object?: string;
  source?: string;
  since?: string;
  until?: string;
  text?: string;
  /** An expression that has to hold. */
  filter?: string;
}

export type AccessRoute = PeopleRoute | RolesRoute | SecretsRoute | AuditRoute | { page: "me" };

const AUDIT_WORDS = [
  "actor",
  "action",
  "object",
  "source",
  "since",
  "until",
  "text",
  "filter",
] as const;

export function parseAccess(parts: string[], asked: URLSearchParams): AccessRoute | undefined {
  const [first, project, noun, name] = parts;
  if (first === "projects" && project && noun === "people") {
    const tab = PEOPLE_TABS.find((one) => one === asked.get("tab"));
    return { page: "people", project, ...(tab && { tab }), ...(name && { user: name }) };
  }
  if (first === "projects" && project && noun === "secrets")
    return { page: "secrets", project, ...(name && { secret: name }) };
  if (first === "roles" || first === "groups")
    return { page: "roles", of: first, ...(parts[1] && { name: parts[1] }) };
  if (first === "audit") {
    const route: AuditRoute = { page: "audit" };
    for (const key of AUDIT_WORDS) {
      const value = asked.get(key);
      if (value) route[key] = value;
    }
    const kind = OBJECT_KINDS.find((one) => one === asked.get("kind"));
    return kind ? { ...route, kind } : route;
  }
  if (first === "me") return { page: "me" };
  return undefined;
}

export function formatAccess(route: AccessRoute): string {
  switch (route.page) {
    case "people": {
      const user = route.user ? `/${encodeURIComponent(route.user)}` : "";
      const asked = search({ tab: route.tab });
      return `#/projects/${encodeURIComponent(route.project)}/people${user}${asked}`;
    }
    case "roles":
      return `#/${route.of}${route.name ? `/${encodeURIComponent(route.name)}` : ""}`;
    case "secrets": {
      const secret = route.secret ? `/${encodeURIComponent(route.secret)}` : "";
      return `#/projects/${encodeURIComponent(route.project)}/secrets${secret}`;
    }
    case "audit": {
      const { actor, action, kind, object, source, since, until, text, filter } = route;
      return `#/audit${search({ actor, action, kind, object, source, since, until, text, filter })}`;
    }
    case "me":
      return "#/me";
  }
}
