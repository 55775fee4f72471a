// Addresses of stacks: the list, what uses what, one stack and what of it is looked at.

import { search } from "./api/http";
import type { StackAction, StackStatus } from "./api/types";

export const STACK_TABS = [
  "overview",
  "resources",
  "graph",
  "events",
  "plan",
  "drift",
  "history",
  "dependencies",
  "lock",
  "template",
] as const;
export type StackTab = (typeof STACK_TABS)[number];

const STATUS: Record<StackStatus, true> = { "in-progress": true, complete: true, failed: true };
const ACTION: Record<StackAction, true> = {
  create: true,
  update: true,
  delete: true,
  rollback: true,
  suspend: true,
  resume: true,
  adopt: true,
  snapshot: true,
  check: true,
  restore: true,
};
export const STACK_STATUSES = Object.keys(STATUS) as StackStatus[];
export const STACK_ACTIONS = Object.keys(ACTION) as StackAction[];

export interface StackFilter {
  status?: StackStatus;
  action?: StackAction;
  tag?: string;
  /** Also those that are resources of others. */
  nested?: true;
  /** Also those that are gone. */
  deleted?: true;
  /** An expression that has to hold. */
  filter?: string;
}

export interface StacksRoute extends StackFilter {
  page: "stacks";
  project: string;
  stack?: string;
  /** What of the stack is looked at; without a stack, what the stacks of the project use of each other. */
  tab?: StackTab;
  /** Name of a resource. */
  resource?: string;
  /** The stack that the resource is of, where it is one below. */
  of?: string;
  plan?: string;
  /** Number of a revision whose template is shown. */
  revision?: number;
  /** Points in time that are compared; the second is now where nothing is said. */
  from?: string;
  to?: string;
}

export function parseStacks(parts: string[], asked: URLSearchParams): StacksRoute | undefined {
  const [first, project, noun, stack] = parts;
  if (first !== "projects" || !project || noun !== "stacks") return undefined;
  const base = { page: "stacks", project } as const;
  const tab = STACK_TABS.find((one) => one === asked.get("tab"));
  if (!stack) {
    if (tab === "dependencies") return { ...base, tab };
    return { ...base, ...filterOf(asked) };
  }
  const [resource, of, plan] = [asked.get("resource"), asked.get("of"), asked.get("plan")];
  const [from, to, revision] = [asked.get("from"), asked.get("to"), asked.get("revision")];
  return {
    ...base,
    stack,
    ...(tab && tab !== "overview" && { tab }),
    ...(resource && { resource }),
    ...(resource && of && { of }),
    ...(plan && { plan }),
    ...(revision && /^[1-9]\d{0,8}$/.test(revision) && { revision: Number(revision) }),
    ...(from && { from }),
    ...(from && to && { to }),
  };
}

function filterOf(asked: URLSearchParams): StackFilter {
  const status = STACK_STATUSES.find((one) => one === asked.get("status"));
  const action = STACK_ACTIONS.find((one) => one === asked.get("action"));
  const [tag, filter] = [asked.get("tag"), asked.get("filter")];
  return {
    ...(status && { status }),
    ...(action && { action }),
    ...(tag && { tag }),
    ...(asked.get("nested") === "true" && { nested: true }),
    ...(asked.get("deleted") === "true" && { deleted: true }),
    ...(filter && { filter }),
  };
}

export function formatStacks(route: StacksRoute): string {
  const head = `#/projects/${encodeURIComponent(route.project)}/stacks`;
  const { stack, tab, status, action, tag, nested, deleted, filter } = route;
  if (!stack) return `${head}${search({ tab, status, action, tag, nested, deleted, filter })}`;
  const { resource, of, plan, revision, from, to } = route;
  const asked = search({ tab, resource, of, plan, revision, from, to });
  return `${head}/${encodeURIComponent(stack)}${asked}`;
}
