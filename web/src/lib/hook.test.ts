import { expect, test } from "vitest";

import type { DeliveryView, HookView } from "./api/types";
import { buildHook, eventWords, hookAdd, hookCommand, hookDraft, hookLook, openOf } from "./hook";

const HOOK: HookView = {
  id: "h",
  name: "tell-ops",
  spec: {
    on: ["task.failed", "node.*"],
    filter: "payload.exitCode > 1",
    action: { webhook: { url: "https://ops.example/in" } },
    onDead: "block",
  },
  summary: "webhook https://ops.example",
  isEnabled: true,
  owner: "ada",
  deliveries: { ready: 2, queued: 1, done: 40, dead: 3 },
  generation: 2,
  timeCreated: "2026-01-01T00:00:00Z",
  timeModified: "2026-01-01T00:00:00Z",
};

function typed(more: Partial<ReturnType<typeof hookDraft>>) {
  return { ...hookDraft(undefined, "lab"), name: "tell-ops", on: "task.failed", ...more };
}

function made(more: Partial<ReturnType<typeof hookDraft>>, isGlobal = false) {
  const { spec, mistakes } = buildHook(typed(more), isGlobal);
  expect(mistakes).toEqual({});
  return spec === undefined ? "" : hookAdd("tell-ops", spec, isGlobal ? undefined : "lab");
}

test("a hook is enabled or not, and has deliveries that are not over", () => {
  expect(hookLook(HOOK).word).toBe("Enabled");
  expect(hookLook({ ...HOOK, isEnabled: false }).word).toBe("Disabled");
  expect(openOf(HOOK)).toBe(3);
});

test("a delivery is named by its event", () => {
  const of = (event: unknown): string => eventWords({ event } as DeliveryView);
  expect(of({ kind: "task.failed", object: { name: "web", id: "x" } })).toBe("task.failed web");
  expect(of({ kind: "task.failed", object: { name: "", id: "x" } })).toBe("task.failed x");
  expect(of(null)).toBe("event");
});

test("an empty form says what is missing, all at once", () => {
  expect(Object.keys(buildHook(hookDraft(undefined, ""), true).mistakes).sort()).toEqual([
    "actsIn",
    "name",
    "on",
    "url",
  ]);
  const wrong = (more: Partial<ReturnType<typeof hookDraft>>): string[] =>
    Object.keys(buildHook(typed({ url: "https://x", ...more }), false).mistakes);
  expect(wrong({ format: "email" })).toEqual(["to"]);
  expect(wrong({ format: "template" })).toEqual(["template"]);
  expect(wrong({ kind: "lua", lua: " " })).toEqual(["lua"]);
  expect(wrong({ kind: "task" })).toEqual(["task"]);
});

test("a form means a hook, and the command that makes the same", () => {
  expect(
    made({ url: "https://ops.example/in", sign: "key", filter: ' object.name == "web" ' }),
  ).toBe(
    `hostler hook add tell-ops -p lab --on task.failed --filter 'object.name == "web"' --webhook https://ops.example/in --sign key`,
  );
  expect(made({ urlSecret: "slack-url", format: "slack", on: "task.*, node.offline" })).toBe(
    "hostler hook add tell-ops -p lab --on 'task.*,node.offline' --webhook-secret slack-url --format slack",
  );
  expect(made({ url: "https://m", format: "email", to: "a@x b@x", actsIn: "ops" }, true)).toBe(
    "hostler hook add tell-ops --global --acts-in ops --on task.failed --webhook https://m --format email --to a@x,b@x",
  );
  expect(made({ kind: "lua" })).toContain("--lua tell-ops.lua");
  const { work } = hookDraft(undefined, "lab");
  expect(made({ kind: "workflow", work: { ...work, workflow: "build" } })).toContain(
    "--workflow build",
  );
  const task = { ...work.task, command: "echo hi" };
  expect(made({ kind: "task", work: { ...work, task } })).toContain("-- echo hi");
});

test("what flags do not say is in a file", () => {
  const { work } = hookDraft(undefined, "lab");
  const task = { ...work.task, command: "echo hi", image: "debian:12" };
  const filed = "hostler hook add tell-ops -p lab --file tell-ops.yaml";
  expect(made({ kind: "task", work: { ...work, task } })).toBe(filed);
  expect(made({ kind: "workload", work: { ...work, workload: "web" } })).toBe(filed);
});

test("another filter leaves what is done alone", () => {
  const draft = hookDraft(HOOK, "lab");
  expect(draft).toMatchObject({ on: "task.failed, node.*", filter: "payload.exitCode > 1" });
  expect(buildHook({ ...draft, filter: "" }, false, HOOK.spec).spec).toEqual({
    on: ["task.failed", "node.*"],
    action: HOOK.spec.action,
    onDead: "block",
  });
});

test("commands say whose hook it is", () => {
  expect(hookCommand("ls", undefined, "default")).toBe("hostler hook ls");
  expect(hookCommand("test", "x", "lab", ["--event", "7"])).toBe(
    "hostler hook test x -p lab --event 7",
  );
  expect(hookCommand("replay", "x", undefined, ["--all"])).toBe(
    "hostler hook replay x --global --all",
  );
});
