// Addresses inside the dashboard. They live in the fragment, so that any path of the server can be
// its own; everything worth sharing (project, task, array, workload, filter) is in them.

import { type AccessRoute, formatAccess, parseAccess } from "./access-route";
import { isDay } from "./account";
import { search } from "./api/http";
import type { TaskStateKind, WorkloadPhase } from "./api/types";
import { type AutomationRoute, formatAutomation, parseAutomation } from "./automation-route";
import { FILE_KINDS, type FileKind } from "./files";
import { isMachineTab, type MachineTab } from "./machine";
import { DEFAULT_RANGE, isOverviewRange, type OverviewRange } from "./overview";
import { formatStacks, parseStacks, type StacksRoute } from "./stack-route";
import { TASK_STATE_KINDS } from "./words";
import { type FlowRoute, formatFlow, parseFlow } from "./workflow-route";
import { WORKLOAD_PHASE_KINDS } from "./workload";

export interface WorkloadsRoute {
  page: "workloads";
  project: string;
  workload?: string;
  state?: WorkloadPhase;
  tag?: string;
  node?: string;
  /** An expression that has to hold. */
  filter?: string;
}

export interface TasksRoute {
  page: "tasks";
  project: string;
  task?: string;
  state?: TaskStateKind;
  array?: string;
  /** An expression that has to hold. */
  filter?: string;
}

export interface FilesRoute {
  page: "files";
  project: string;
  blob?: string;
  kind?: FileKind;
}

export interface AccountsRoute {
  page: "accounts";
  project?: string;
  from?: string;
  to?: string;
}

export interface NodeBackupsRoute {
  page: "node-backups";
  /** Only of this one. */
  node?: string;
  backup?: string;
}

export interface NodesRoute {
  page: "nodes";
  node?: string;
  /** What of its machine is looked at. */
  tab?: MachineTab;
  /** An expression that has to hold. */
  filter?: string;
}

export interface OverviewRoute {
  page: "overview";
  /** How far back; an hour where nothing is said. */
  range?: OverviewRange;
}

export type Route =
  | OverviewRoute
  | WorkloadsRoute
  | TasksRoute
  | FilesRoute
  | AccountsRoute
  | { page: "arrays"; project: string; array?: string }
  | { page: "approvals"; approval?: string }
  | { page: "queue" }
  | { page: "images" }
  | NodesRoute
  | NodeBackupsRoute
  | { page: "backups" }
  | FlowRoute
  | StacksRoute
  | AutomationRoute
  | AccessRoute
  | { page: "start" };

/** What a fragment names; `undefined` where it names nothing. */
export function parseRoute(fragment: string): Route | undefined {
  const [path = "", query = ""] = fragment.replace(/^#/, "").split("?");
  const parts = path
    .split("/")
    .filter((part) => part !== "")
    .map(decode);
  if (parts[0] === "projects" && parts[1] && parts[2] === "tasks") {
    const asked = new URLSearchParams(query);
    const state = TASK_STATE_KINDS.find((kind) => kind === asked.get("state"));
    const [array, filter] = [asked.get("array"), asked.get("filter")];
    return {
      page: "tasks",
      project: parts[1],
      ...(parts[3] ? { task: parts[3] } : {}),
      ...(state ? { state } : {}),
      ...(array ? { array } : {}),
      ...(filter ? { filter } : {}),
    };
  }
  if (parts[0] === "projects" && parts[1] && parts[2] === "arrays")
    return { page: "arrays", project: parts[1], ...(parts[3] ? { array: parts[3] } : {}) };
  if (parts[0] === "projects" && parts[1] && parts[2] === "files") {
    const asked = new URLSearchParams(query).get("kind");
    const kind = FILE_KINDS.find((one) => one === asked);
    return {
      page: "files",
      project: parts[1],
      ...(parts[3] ? { blob: parts[3] } : {}),
      ...(kind ? { kind } : {}),
    };
  }
  if (parts[0] === "projects" && parts[1] && parts[2] === "workloads") {
    const asked = new URLSearchParams(query);
    const state = WORKLOAD_PHASE_KINDS.find((kind) => kind === asked.get("state"));
    const [tag, node, filter] = [asked.get("tag"), asked.get("node"), asked.get("filter")];
    return {
      page: "workloads",
      project: parts[1],
      ...(parts[3] ? { workload: parts[3] } : {}),
      ...(state ? { state } : {}),
      ...(tag ? { tag } : {}),
      ...(node ? { node } : {}),
      ...(filter ? { filter } : {}),
    };
  }
  if (parts[0] === "nodes") {
    const asked = new URLSearchParams(query);
    const [tab, filter] = [asked.get("tab"), asked.get("filter")];
    return {
      page: "nodes",
      ...(parts[1] ? { node: parts[1] } : {}),
      ...(parts[1] && isMachineTab(tab) ? { tab } : {}),
      ...(filter ? { filter } : {}),
    };
  }
  if (parts[0] === "overview") {
    const range = new URLSearchParams(query).get("range");
    const isOther = isOverviewRange(range) && range !== DEFAULT_RANGE;
    return { page: "overview", ...(isOther ? { range } : {}) };
  }
  if (parts[0] === "backups") return { page: "backups" };
  if (parts[0] === "node-backups") {
    const node = new URLSearchParams(query).get("node");
    return {
      page: "node-backups",
      ...(node ? { node } : {}),
      ...(parts[1] ? { backup: parts[1] } : {}),
    };
  }
  if (parts[0] === "approvals")
    return { page: "approvals", ...(parts[1] ? { approval: parts[1] } : {}) };
  if (parts[0] === "queue") return { page: "queue" };
  if (parts[0] === "images") return { page: "images" };
  if (parts[0] === "accounts") {
    const asked = new URLSearchParams(query);
    const [project, from, to] = [asked.get("project"), asked.get("from"), asked.get("to")];
    return {
      page: "accounts",
      ...(project ? { project } : {}),
      ...(isDay(from) ? { from } : {}),
      ...(isDay(to) ? { to } : {}),
    };
  }
  if (parts[0] === "start") return { page: "start" };
  const asked = new URLSearchParams(query);
  return (
    parseFlow(parts, asked) ??
    parseStacks(parts, asked) ??
    parseAutomation(parts, asked) ??
    parseAccess(parts, asked)
  );
}

export function formatRoute(route: Route): string {
  switch (route.page) {
    case "tasks": {
      const task = route.task ? `/${encodeURIComponent(route.task)}` : "";
      const asked = search({ state: route.state, array: route.array, filter: route.filter });
      return `#/projects/${encodeURIComponent(route.project)}/tasks${task}${asked}`;
    }
    case "arrays": {
      const array = route.array ? `/${encodeURIComponent(route.array)}` : "";
      return `#/projects/${encodeURIComponent(route.project)}/arrays${array}`;
    }
    case "files": {
      const blob = route.blob ? `/${encodeURIComponent(route.blob)}` : "";
      const asked = search({ kind: route.kind });
      return `#/projects/${encodeURIComponent(route.project)}/files${blob}${asked}`;
    }
    case "approvals":
      return route.approval ? `#/approvals/${encodeURIComponent(route.approval)}` : "#/approvals";
    case "queue":
      return "#/queue";
    case "images":
      return "#/images";
    case "accounts":
      return `#/accounts${search({ project: route.project, from: route.from, to: route.to })}`;
    case "workloads": {
      const workload = route.workload ? `/${encodeURIComponent(route.workload)}` : "";
      const { state, tag, node, filter } = route;
      const asked = search({ state, tag, node, filter });
      return `#/projects/${encodeURIComponent(route.project)}/workloads${workload}${asked}`;
    }
    case "overview":
      return `#/overview${search({ range: route.range })}`;
    case "backups":
      return "#/backups";
    case "nodes": {
      const node = route.node ? `/${encodeURIComponent(route.node)}` : "";
      const tab = route.node ? route.tab : undefined;
      return `#/nodes${node}${search({ tab, filter: route.filter })}`;
    }
    case "node-backups": {
      const backup = route.backup ? `/${encodeURIComponent(route.backup)}` : "";
      return `#/node-backups${backup}${search({ node: route.node })}`;
    }
    case "workflows":
    case "executions":
      return formatFlow(route);
    case "stacks":
      return formatStacks(route);
    case "schedules":
    case "hooks":
    case "watchers":
    case "state":
    case "locks":
    case "events":
      return formatAutomation(route);
    case "start":
      return "#/start";
    default:
      return formatAccess(route);
  }
}

/** The one-time code of `#setup=CODE`. */
export function setupCode(fragment: string): string | undefined {
  return new URLSearchParams(fragment.replace(/^#/, "")).get("setup") ?? undefined;
}

/** A link that was handed to somebody: to make an account, or to set a new password. */
export interface Handed {
  kind: "invitation" | "reset";
  secret: string;
  /** The fragment as it was, for the command line. */
  fragment: string;
}

/** What `#invitation=SECRET.FINGERPRINT` and `#reset=SECRET.FINGERPRINT` hand over. */
export function handedOut(fragment: string): Handed | undefined {
  const [, kind, secret] = /^#(invitation|reset)=([\w-]+)(?:\.[0-9a-f]*)?$/.exec(fragment) ?? [];
  if (secret === undefined || (kind !== "invitation" && kind !== "reset")) return undefined;
  return { kind, secret, fragment };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
