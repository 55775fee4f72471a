// Where things that are named by their kind are shown.

import type { ObjectRef } from "./api/types";
import type { Route } from "./route";

/** `undefined` where no page shows it. */
export function objectRoute({ kind, id, name }: ObjectRef, project: string): Route | undefined {
  switch (kind) {
    case "task":
      return { page: "tasks", project, task: id };
    case "task-array":
      return { page: "arrays", project, array: name || id };
    case "execution":
      return { page: "executions", project, execution: id };
    case "workload":
      return { page: "workloads", project, workload: name || id };
    case "node":
      return { page: "nodes", node: name || id };
    case "workflow":
      return { page: "workflows", project, workflow: name };
    case "stack":
      return { page: "stacks", project, stack: id };
    case "module":
      return { page: "workflows", project, tab: "modules", module: name };
    case "schedule":
      return { page: "schedules", project, schedule: name };
    case "hook":
      return { page: "hooks", project, hook: name };
    case "watcher":
      return { page: "watchers", project, watcher: name || id };
    case "lock":
      return { page: "locks", project, lock: name };
    case "state-namespace":
      return { page: "state", project, namespace: name };
    case "approval":
      return { page: "approvals", approval: id };
    case "image":
      return { page: "images" };
    case "role":
      return { page: "roles", of: "roles", name };
    case "group":
      return { page: "roles", of: "groups", name };
    default:
      return undefined;
  }
}
