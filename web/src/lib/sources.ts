// The lists that are watched, as sources.

import { call, stream } from "./api/http";
import type {
  ArrayView,
  BlobView,
  ExecutionView,
  ModuleView,
  NodeView,
  TaskStateKind,
  TaskView,
  WorkflowView,
  WorkloadView,
} from "./api/types";
import type { Listing, Source } from "./api/watch";
import { isOfArray } from "./array";
import type { FileKind } from "./files";

export const TASK_PAGE = 200;
const ARRAY_PAGE = 50;
const BLOB_PAGE = 100;
const FLOW_PAGE = 50;
/** How many tasks a page keeps; those that came first go. */
export const TASKS_KEPT = 2000;
const PAGE = 1000;
export const MOST = 5000;

/** All pages of a list, up to a bound; to be watched from where the first one stood. */
export async function whole<T>(
  page: (query: { limit: number; cursor: string | undefined }) => Promise<Listing<T>>,
): Promise<Listing<T>> {
  const found: Listing<T> = { items: [] };
  let cursor: string | undefined;
  do {
    const next = await page({ limit: PAGE, cursor });
    found.items.push(...next.items);
    found.watchCursor ??= next.watchCursor ?? undefined;
    cursor = next.nextCursor ?? undefined;
  } while (cursor !== undefined && found.items.length < MOST);
  return { ...found, nextCursor: cursor };
}

export function nodeSource(filter?: string): Source<NodeView> {
  return {
    list: (signal) =>
      whole((query) => call("get", "/api/v1/nodes", { query: { ...query, filter }, signal })),
    open: (cursor, signal) =>
      stream("/api/v1/nodes", { query: { watch: true, cursor, filter }, signal }),
  };
}

/** Workloads of a project; facets are applied here, so that what leaves one is heard of too. */
export function workloadSource(project: string, filter?: string): Source<WorkloadView> {
  const address = "/api/v1/projects/{project}/workloads";
  const path = { project };
  return {
    list: (signal) =>
      whole((query) => call("get", address, { path, query: { ...query, filter }, signal })),
    open: (cursor, signal) =>
      stream(address, { path, query: { watch: true, cursor, filter }, signal }),
  };
}

export interface TaskFilter {
  state: TaskStateKind | undefined;
  array: string | undefined;
  filter?: string | undefined;
}

/**
 * Tasks of a project, newest first. State and array narrow what is listed but not what is watched: a task
 * that leaves the filtered state must be heard of too. Of what leaves a filter the server tells.
 */
export function taskSource(project: string, filter: TaskFilter): Source<TaskView> {
  return {
    list: (signal) => taskPage(project, filter, undefined, signal),
    open: (cursor, signal) =>
      stream("/api/v1/projects/{project}/tasks", {
        path: { project },
        query: { watch: true, cursor, filter: filter.filter },
        signal,
      }),
    wants: (task) => isMatching(task, filter),
  };
}

export function isMatching(task: TaskView, { state, array }: TaskFilter): boolean {
  if (state !== undefined && task.status.state !== state) return false;
  return array === undefined || isOfArray(task, array);
}

export function taskPage(
  project: string,
  { state, array, filter }: TaskFilter,
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<Listing<TaskView>> {
  return call("get", "/api/v1/projects/{project}/tasks", {
    path: { project },
    query: { limit: TASK_PAGE, state, array, filter, cursor },
    signal,
  });
}

export function arrayPage(
  project: string,
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<Listing<ArrayView>> {
  return call("get", "/api/v1/projects/{project}/task-arrays", {
    path: { project },
    query: { limit: ARRAY_PAGE, cursor },
    signal,
  });
}

export function blobPage(
  project: string,
  kind: FileKind | undefined,
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<Listing<BlobView>> {
  return call("get", "/api/v1/projects/{project}/blobs", {
    path: { project },
    query: { limit: BLOB_PAGE, kind, cursor },
    signal,
  });
}

export function workflowPage(
  project: string,
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<Listing<WorkflowView>> {
  return call("get", "/api/v1/projects/{project}/workflows", {
    path: { project },
    query: { limit: FLOW_PAGE, cursor },
    signal,
  });
}

export function versionPage(
  project: string,
  workflow: string,
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<Listing<WorkflowView>> {
  return call("get", "/api/v1/projects/{project}/workflows/{workflow}/versions", {
    path: { project, workflow },
    query: { limit: FLOW_PAGE, cursor },
    signal,
  });
}

export function modulePage(
  project: string,
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<Listing<ModuleView>> {
  return call("get", "/api/v1/projects/{project}/modules", {
    path: { project },
    query: { limit: FLOW_PAGE, cursor },
    signal,
  });
}

export function moduleVersionPage(
  project: string,
  module: string,
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<Listing<ModuleView>> {
  return call("get", "/api/v1/projects/{project}/modules/{module}/versions", {
    path: { project, module },
    query: { limit: FLOW_PAGE, cursor },
    signal,
  });
}

export interface ExecutionFilter {
  workflow?: string | undefined;
  open?: boolean | undefined;
  filter?: string | undefined;
  limit?: number;
}

export function executionPage(
  project: string,
  filter: ExecutionFilter,
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<Listing<ExecutionView>> {
  return call("get", "/api/v1/projects/{project}/executions", {
    path: { project },
    query: { limit: FLOW_PAGE, ...filter, cursor },
    signal,
  });
}
