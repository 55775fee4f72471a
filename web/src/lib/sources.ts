// The two lists that are watched, as sources.

import { call, stream } from "./api/http";
import type { NodeView, TaskStateKind, TaskView } from "./api/types";
import type { Listing, Source } from "./api/watch";

export const TASK_PAGE = 200;
const NODES_MOST = 5000;

export function nodeSource(): Source<NodeView> {
  return {
    async list(signal) {
      const whole: Listing<NodeView> = { items: [] };
      let cursor: string | undefined;
      do {
        const query = { limit: 1000, cursor };
        const page = await call("get", "/api/v1/nodes", { query, signal });
        whole.items.push(...page.items);
        whole.watchCursor ??= page.watchCursor ?? undefined;
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined && whole.items.length < NODES_MOST);
      return whole;
    },
    open: (cursor, signal) => stream("/api/v1/nodes", { query: { watch: true, cursor }, signal }),
  };
}

/**
 * Tasks of a project, newest first. A filter narrows what is listed but not what is watched: a task
 * that leaves the filtered state must be heard of too.
 */
export function taskSource(project: string, state: TaskStateKind | undefined): Source<TaskView> {
  return {
    list: (signal) => taskPage(project, state, undefined, signal),
    open: (cursor, signal) =>
      stream("/api/v1/projects/{project}/tasks", {
        path: { project },
        query: { watch: true, cursor },
        signal,
      }),
  };
}

export function taskPage(
  project: string,
  state: TaskStateKind | undefined,
  cursor: string | undefined,
  signal?: AbortSignal,
): Promise<Listing<TaskView>> {
  return call("get", "/api/v1/projects/{project}/tasks", {
    path: { project },
    query: { limit: TASK_PAGE, state, cursor },
    signal,
  });
}
