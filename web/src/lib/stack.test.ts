import { expect, test } from "vitest";

import type {
  LockDetailView,
  StackAction,
  StackChangeKind,
  StackChanges,
  StackResourceView,
  StackStatus,
  StackView,
} from "./api/types";
import {
  changesWords,
  concealed,
  differenceWords,
  givesValues,
  graphOf,
  HIDDEN,
  isImpossible,
  isNothing,
  lies,
  openOf,
  ownHold,
  progressOf,
  progressWords,
  resourceLook,
  stackLook,
  standLook,
  treeRows,
  valueWords,
  verbsOf,
} from "./stack";
import { STACK_ACTIONS, STACK_STATUSES } from "./stack-route";
import { together } from "./stack-live.svelte";

const TIME = "2026-11-19T10:00:00Z";

function stack(action: StackAction, status: StackStatus, more: Partial<StackView> = {}): StackView {
  return {
    id: "s",
    name: "web",
    standing: { action, status, reason: "" },
    traversal: 1,
    revision: 0,
    options: {},
    timeCreated: TIME,
    timeBegun: TIME,
    ...more,
  };
}

function resource(name: string, more: Partial<StackResourceView> = {}): StackResourceView {
  return {
    id: name,
    name,
    type: "OS::Heat::Value",
    stack: "web",
    stackId: "s",
    action: "create",
    status: "complete",
    deletionPolicy: "delete",
    timeCreated: TIME,
    timeModified: TIME,
    ...more,
  };
}

test("every standing has a word of its own, and an icon", () => {
  const words = STACK_ACTIONS.flatMap((action) =>
    STACK_STATUSES.map((status) => standLook(action, status)),
  );
  expect(new Set(words.map(({ word }) => word)).size).toBe(words.length);
  expect(standLook("create", "in-progress")).toMatchObject({ word: "Creating", tone: "busy" });
  expect(standLook("update", "failed")).toMatchObject({ word: "Update failed", tone: "bad" });
  expect(standLook("rollback", "complete")).toMatchObject({ word: "Rolled back", tone: "wait" });
  expect(standLook("dance", "complete").word).toBe("dance");
  expect(stackLook(stack("delete", "complete", { timeDeleted: TIME })).word).toBe("Gone");
});

test("a resource at a hook, or before its turn, is not in hand", () => {
  expect(resourceLook(resource("a", { hook: "pre-create", status: "in-progress" })).word).toBe(
    "Waits at pre-create",
  );
  expect(resourceLook(resource("a", { action: "init" })).word).toBe("Waiting");
  expect(resourceLook(resource("a", { action: "init", status: "failed" })).tone).toBe("bad");
});

test("progress counts every resource once", () => {
  const found = progressOf([
    resource("a"),
    resource("b", { underWay: "update" }),
    resource("c", { status: "in-progress", hook: "pre-update" }),
    resource("d", { action: "init" }),
    resource("e", { status: "failed" }),
  ]);
  expect(found).toEqual({ all: 5, done: 1, busy: 1, failed: 1, waiting: 2 });
  expect(progressWords(found)).toBe("1 of 5 resources are done: 1 in hand, 2 waiting, 1 failed");
  expect(progressWords(progressOf([resource("a")]))).toBe("1 of 1 resource is done");
});

test("resources of stacks below lie below the resource that the stack is", () => {
  const all = [
    resource("net"),
    resource("group", { child: "t" }),
    resource("0", { id: "t0", stackId: "t", child: "u", parentResource: "group" }),
    resource("disk", { id: "u0", stackId: "u", status: "failed" }),
    resource("1", { id: "t1", stackId: "t" }),
  ];
  const shown = (rows: ReturnType<typeof treeRows>): string[] =>
    rows.map(({ resource: one, level, hasBelow }) => `${level}${one.name}${hasBelow ? "+" : ""}`);
  expect(shown(treeRows(all, "s", () => false))).toEqual(["0net", "0group+", "10+", "2disk", "11"]);
  expect(shown(treeRows(all, "s", (id) => id === "t0"))).toEqual(["0net", "0group+", "10+", "11"]);
  const failed = treeRows(
    all,
    "s",
    () => false,
    ({ status }) => status === "failed",
  );
  expect(shown(failed)).toEqual(["0group+", "10+", "2disk"]);
});

test("a tree that would never end does", () => {
  const all = [resource("a", { child: "t" }), resource("b", { id: "b", stackId: "t", child: "s" })];
  expect(treeRows(all, "s", () => false).length).toBeLessThan(10);
});

test("a graph has what each needs, and nothing of what is not there", () => {
  const node = (name: string) =>
    ({ name, type: "t", action: "create", status: "complete" }) as const;
  const graph = graphOf({
    nodes: [node("a"), node("b")],
    edges: [
      { from: "b", to: "a" },
      { from: "gone", to: "a" },
    ],
  });
  expect(graph).toEqual([
    { name: "a", dependsOn: [] },
    { name: "b", dependsOn: ["a"] },
  ]);
});

test("values are told as they are, and secrets never", () => {
  expect(valueWords("plain")).toBe("plain");
  expect(valueWords({ a: [1] })).toBe('{"a":[1]}');
  expect(valueWords(null)).toBe("");
  expect(differenceWords({ name: "n", before: "a", after: ["b"] })).toEqual({
    before: "a",
    after: '["b"]',
  });
  expect(differenceWords({ name: "n", after: "", before: null })).toEqual({
    before: "null",
    after: '""',
  });
  expect(differenceWords({ name: "n", before: 1 })).toEqual({ before: "1" });
  expect(differenceWords({ name: "n", before: "x", after: "y", isSecret: true })).toEqual({
    before: HIDDEN,
    after: HIDDEN,
  });
  expect(differenceWords({ name: "n", isUnknown: true }).after).toBe("known when it is done");
});

function changes(action: StackAction, ...kinds: StackChangeKind[]): StackChanges {
  return { action, resources: kinds.map((change, at) => ({ name: `r${at}`, kind: "t", change })) };
}

test("a plan says how much of what it would do", () => {
  const plan = changes("update", "unchanged", "create", "replace", "create", "impossible");
  expect(changesWords(plan)).toBe(
    "2 to create, 1 to replace, 1 that cannot be done, 1 as they are",
  );
  expect(isImpossible(plan)).toBe(true);
  expect(isNothing(plan)).toBe(false);
  expect(isNothing(changes("update", "unchanged"))).toBe(true);
  expect(isNothing({ ...changes("update"), outputs: [{ name: "a", after: 1 }] })).toBe(false);
  expect(isNothing(changes("create"))).toBe(false);
  expect(lies({ path: ["group", "3"], name: "disk" })).toBe("group/3/disk");
});

test.each<[StackAction, StackStatus, string]>([
  ["create", "in-progress", "update cancel delete"],
  ["update", "in-progress", "update cancel delete"],
  ["rollback", "in-progress", "update delete"],
  ["create", "complete", "update check suspend delete"],
  ["create", "failed", "update check suspend delete"],
  ["suspend", "in-progress", "delete"],
  ["suspend", "complete", "resume check delete"],
  ["suspend", "failed", "resume suspend check delete"],
  ["delete", "in-progress", ""],
  ["delete", "failed", "delete"],
])("%s, %s: %s", (action, status, verbs) => {
  expect(verbsOf(stack(action, status)).join(" ")).toBe(verbs);
  expect(verbsOf(stack(action, status, { parent: "p" }))).toEqual([]);
  expect(verbsOf(stack(action, status, { timeDeleted: TIME }))).toEqual([]);
});

test("only values of parameters that are declared and not hidden are left in an environment", () => {
  const hot = {
    parameters: {
      a: { hidden: true },
      b: { hidden: false },
      c: {},
      odd: { hidden: "no" },
      d: null,
    },
  };
  expect([...openOf(hot)]).toEqual(["b", "c", "d"]);
  expect([...openOf({ Parameters: { A: { NoEcho: "true" }, B: { NoEcho: false } } })]).toEqual([
    "B",
  ]);
  expect(openOf("no document").size).toBe(0);
  const environment = {
    parameters: { a: "secret", b: 1, below: "of a template below" },
    parameter_defaults: { a: "too" },
    resource_registry: { a: "file.yaml" },
  };
  expect(concealed(environment, new Set(["b"]))).toEqual({
    parameters: { a: HIDDEN, b: 1, below: HIDDEN },
    parameter_defaults: { a: HIDDEN },
    resource_registry: { a: "file.yaml" },
  });
  expect(concealed(null, new Set(["a"]))).toBe(null);
});

test.each([
  ["parameters:\n  token: s3cret\n", true],
  ["parameter_defaults: {token: s3cret}", true],
  ["resource_registry: {}\nparameters: {}", true],
  ['{"parameters": {"token": "s3cret"}}', true],
  ["{parameters: {token: s3cret}}", true],
  ["heat_template_version: 2018-08-31\nparameters:\n  token: {type: string}\n", false],
  ['{"heat_template_version": "2018-08-31", "parameters": {}}', false],
  ["#!/bin/sh\necho parameters\n", false],
  ["resource_registry:\n  A: b.yaml\n", false],
])("%j may have values in it: %s", (text, gives) => {
  expect(givesValues(text)).toBe(gives);
});

test("one's own hold is found by one's name", () => {
  const hold = { by: "ada", id: "h" } as LockDetailView["holders"][number];
  const lock = { holders: [hold] } as LockDetailView;
  expect(ownHold(lock, "ada")).toBe(hold);
  expect(ownHold(lock, "mira")).toBeUndefined();
  expect(ownHold(undefined, "ada")).toBeUndefined();
  expect(ownHold(lock, undefined)).toBeUndefined();
});

test("an event that is read twice is listed once", () => {
  const event = (id: string) =>
    ({
      id,
      time: TIME,
      stack: "s",
      type: "t",
      action: "create",
      status: "failed",
      reason: "",
    }) as const;
  const all = together([event("3"), event("2")], [event("2"), event("1")]);
  expect(all.map(({ id }) => id)).toEqual(["3", "2", "1"]);
});
