import { expect, test } from "vitest";

import { formatRoute, handedOut, parseRoute, setupCode, type Route } from "./route";

test.each<Route>([
  { page: "tasks", project: "default" },
  { page: "tasks", project: "a b", task: "x/y" },
  { page: "tasks", project: "web", task: "job-1", state: "failed" },
  { page: "tasks", project: "web", state: "killed_oom", array: "sweep" },
  { page: "tasks", project: "web", filter: 'spec.tags contains "blue" and attempts > 1' },
  { page: "workloads", project: "web", workload: "api", filter: "has(status.next)" },
  { page: "nodes", filter: 'labels["zone.name"] == "eu&1"' },
  { page: "executions", project: "web", open: true, filter: 'workflow =~ "^re"' },
  { page: "stacks", project: "web", status: "failed", filter: "depth == 0" },
  { page: "schedules", project: "web", filter: "has(pause)" },
  { page: "audit", actor: "ada", filter: 'action startsWith "secret."' },
  { page: "arrays", project: "default" },
  { page: "arrays", project: "a b", array: "sweep" },
  { page: "files", project: "default" },
  { page: "files", project: "a b", blob: "6f0c", kind: "output" },
  { page: "approvals" },
  { page: "approvals", approval: "0192f3c4-0000-7000-8000-000000000000" },
  { page: "queue" },
  { page: "images" },
  { page: "accounts" },
  { page: "accounts", project: "lab", from: "2026-01-01", to: "2026-01-31" },
  { page: "workflows", project: "default" },
  { page: "workflows", project: "a b", workflow: "Build & test", version: 3, step: "unit tests" },
  { page: "workflows", project: "default", tab: "modules" },
  { page: "workflows", project: "a b", tab: "modules", module: "acme.web", version: 3 },
  { page: "executions", project: "default" },
  { page: "executions", project: "a b", workflow: "Build & test", open: true },
  { page: "executions", project: "web", execution: "0192f3c4", step: "a?b", open: false },
  { page: "workloads", project: "default" },
  { page: "workloads", project: "a b", workload: "web" },
  { page: "workloads", project: "web", state: "partly-running", tag: "a&b", node: "stall-1" },
  { page: "schedules", project: "default" },
  { page: "schedules", project: "a b", schedule: "nightly" },
  { page: "hooks", project: "default" },
  { page: "hooks", project: "a b", isGlobal: true, hook: "tell-ops" },
  { page: "watchers", project: "default" },
  { page: "watchers", project: "a b", watcher: "full" },
  { page: "state", project: "default" },
  { page: "state", project: "a b", namespace: "deploys", prefix: "web/", key: "web/a?b#c%2F" },
  { page: "locks", project: "default", all: true },
  { page: "locks", project: "a b", lock: "db/migrate" },
  { page: "events", project: "default", isGlobal: true, event: 41 },
  {
    page: "events",
    project: "a b",
    kind: "task.failed",
    object: "task",
    id: "0192f3c4",
    filter: 'payload.exitCode > 1 and object.name startsWith "a&b"',
  },
  { page: "nodes" },
  { page: "nodes", node: "stall-1" },
  { page: "nodes", node: "a b", tab: "logs" },
  { page: "overview" },
  { page: "overview", range: "7d" },
  { page: "backups" },
  { page: "node-backups" },
  { page: "node-backups", node: "stall-1", backup: "0192f3c4" },
  { page: "start" },
  { page: "people", project: "default" },
  { page: "people", project: "a b", tab: "invitations", user: "ada" },
  { page: "roles", of: "roles" },
  { page: "roles", of: "groups", name: "ops" },
  { page: "secrets", project: "default" },
  { page: "secrets", project: "a b", secret: "prod/db" },
  { page: "audit" },
  { page: "audit", actor: "ada", kind: "join-token", since: "2026-01-31T12:00:00.000Z" },
  { page: "me" },
])("%o survives the address", (route) => {
  expect(parseRoute(formatRoute(route))).toEqual(route);
});

test("what is not a route is none", () => {
  expect(parseRoute("")).toBeUndefined();
  expect(parseRoute("#/projects/default")).toBeUndefined();
  expect(parseRoute("#setup=abc")).toBeUndefined();
  expect(parseRoute("#/projects/p/workloads?state=nonsense&tag=")).toEqual({
    page: "workloads",
    project: "p",
  });
  expect(parseRoute("#/projects/p/files?kind=image")).toEqual({ page: "files", project: "p" });
  expect(parseRoute("#/accounts?from=yesterday&project=")).toEqual({ page: "accounts" });
  expect(parseRoute("#/projects/p/tasks?state=nonsense")).toEqual({ page: "tasks", project: "p" });
  expect(parseRoute("#/projects/p/people?tab=x")).toEqual({ page: "people", project: "p" });
  expect(parseRoute("#/nodes?tab=logs")).toEqual({ page: "nodes" });
  expect(parseRoute("#/nodes/a?tab=horse")).toEqual({ page: "nodes", node: "a" });
  expect(parseRoute("#/overview?range=9y")).toEqual({ page: "overview" });
  expect(parseRoute("#/audit?kind=horse&actor=")).toEqual({ page: "audit" });
  expect(parseRoute("#/projects/p/state?prefix=a")).toEqual({ page: "state", project: "p" });
  expect(parseRoute("#/projects/p/events/x?object=horse&filter=")).toEqual({
    page: "events",
    project: "p",
  });
  expect(parseRoute("#/projects/p/locks?all=maybe")).toEqual({ page: "locks", project: "p" });
  expect(parseRoute("#/projects/p/workflows/w?version=0&step=")).toEqual({
    page: "workflows",
    project: "p",
    workflow: "w",
  });
  expect(parseRoute("#/projects/p/workflows?tab=modules&module=&version=2")).toEqual({
    page: "workflows",
    project: "p",
    tab: "modules",
  });
  expect(parseRoute("#/projects/p/executions?open=maybe&step=x")).toEqual({
    page: "executions",
    project: "p",
  });
});

test("the one-time code", () => {
  expect(setupCode("#setup=ABCD-1234")).toBe("ABCD-1234");
  expect(setupCode("#/nodes")).toBeUndefined();
});

test("what links hand over", () => {
  const fragment = "#invitation=hst_inv_a-b_c.00ff";
  expect(handedOut(fragment)).toEqual({
    kind: "invitation",
    secret: "hst_inv_a-b_c",
    fragment,
  });
  expect(handedOut("#reset=hst_reset_x")?.secret).toBe("hst_reset_x");
  for (const other of ["", "#/nodes", "#setup=a", "#invitation=", "#invitation=a b", "#other=x"])
    expect(handedOut(other)).toBeUndefined();
});
