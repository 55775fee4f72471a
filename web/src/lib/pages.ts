// The pages, each fetched when it is first wanted: what is loaded at first is the frame around them.

import type { Route } from "./route";

export const PAGES = {
  overview: () => import("../pages/Overview.svelte"),
  tasks: () => import("../pages/Tasks.svelte"),
  arrays: () => import("../pages/Arrays.svelte"),
  approvals: () => import("../pages/Approvals.svelte"),
  queue: () => import("../pages/Queue.svelte"),
  workflows: () => import("../pages/Workflows.svelte"),
  executions: () => import("../pages/Executions.svelte"),
  stacks: () => import("../pages/Stacks.svelte"),
  workloads: () => import("../pages/Workloads.svelte"),
  schedules: () => import("../pages/Schedules.svelte"),
  hooks: () => import("../pages/Hooks.svelte"),
  watchers: () => import("../pages/Watchers.svelte"),
  state: () => import("../pages/State.svelte"),
  events: () => import("../pages/Events.svelte"),
  locks: () => import("../pages/Locks.svelte"),
  nodes: () => import("../pages/Nodes.svelte"),
  "node-backups": () => import("../pages/NodeBackups.svelte"),
  backups: () => import("../pages/Backups.svelte"),
  files: () => import("../pages/Files.svelte"),
  images: () => import("../pages/Images.svelte"),
  accounts: () => import("../pages/Accounts.svelte"),
  start: () => import("../pages/Start.svelte"),
  people: () => import("../pages/People.svelte"),
  roles: () => import("../pages/Roles.svelte"),
  secrets: () => import("../pages/Secrets.svelte"),
  audit: () => import("../pages/Audit.svelte"),
  me: () => import("../pages/Me.svelte"),
} satisfies Record<Route["page"], () => Promise<unknown>>;

/** Fetches a page that somebody is about to open; where that fails, opening it says so. */
export function prepare(page: Route["page"]): void {
  PAGES[page]().catch(() => undefined);
}
