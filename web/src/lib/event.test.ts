import { expect, test } from "vitest";

import type { EventView } from "./api/types";
import {
  aboutWords,
  causeOf,
  eventCommand,
  eventLook,
  eventQuery,
  formOf,
  isNarrowed,
  narrowingOf,
  sameCause,
  together,
} from "./event";

const event = (sequence: number): EventView => ({
  sequence,
  kind: "task.failed",
  time: "2026-01-01T00:00:00Z",
  object: { kind: "task", id: "i", name: "web" },
  actor: { kind: "user", name: "ada" },
  message: "exit code 1",
});

test.each([
  ["task.failed", "bad"],
  ["node.administer-failed", "bad"],
  ["node.gpu-trouble", "bad"],
  ["workload.crash-loop", "bad"],
  ["execution.step-started", "busy"],
  ["task.completed", "good"],
  ["project.changed", "muted"],
  ["something.never-seen", "muted"],
])("%s looks %s, and says what it is", (kind, tone) => {
  expect(eventLook(kind)).toMatchObject({ word: kind, tone });
});

test("what it is about has a name, or an id", () => {
  expect(aboutWords(event(1))).toBe("task web");
  expect(aboutWords({ object: { kind: "task", id: "i", name: "" } })).toBe("task i");
});

test("a cause is an execution, a delivery, or a request", () => {
  expect(causeOf(undefined)).toBeUndefined();
  expect(causeOf("")).toBeUndefined();
  expect(causeOf("execution/0192")).toEqual({ by: "execution", id: "0192" });
  expect(causeOf("hook/0193/41")).toEqual({ by: "hook", id: "0193", sequence: 41 });
  expect(causeOf("task/0195")).toEqual({ by: "task", id: "0195" });
  expect(causeOf("fire/0196/1700000000")).toEqual({ by: "fire", id: "0196" });
  for (const request of ["0194-aa", "hook/0193", "hook/0193/x", "execution/"])
    expect(causeOf(request)).toEqual({ by: "request", id: request });
  expect(sameCause('a"b')).toBe('correlation == "a\\"b"');
});

test("what narrows survives the form, and nothing empty is asked for", () => {
  const narrow = { kind: "task.failed", object: "task", id: "i", filter: "sequence > 1" } as const;
  expect(narrowingOf(formOf(narrow))).toEqual(narrow);
  expect(narrowingOf({ kind: " ", object: "horse", id: "", filter: "" })).toEqual({});
  expect(isNarrowed({})).toBe(false);
  expect(isNarrowed({ id: "i" })).toBe(true);
  expect(eventQuery({ project: "lab", kind: "task.oom" })).toMatchObject({
    project: "lab",
    kind: "task.oom",
  });
  expect(eventQuery({ project: "lab", isGlobal: true }).project).toBeUndefined();
});

test("commands", () => {
  expect(eventCommand("ls", { project: "lab", isGlobal: true })).toBe("hostler event ls");
  expect(
    eventCommand("watch", { project: "lab", kind: "task.failed", filter: "payload.exitCode > 1" }),
  ).toBe("hostler event watch --kind task.failed --filter 'payload.exitCode > 1' -p lab");
});

test("pages and news make one list, newest first, each event once", () => {
  const made = together([event(5), event(3)], [event(7), event(5), event(4)]);
  expect(made.map(({ sequence }) => sequence)).toEqual([7, 5, 4, 3]);
  expect(together(made, [event(9)], 2).map(({ sequence }) => sequence)).toEqual([9, 7]);
});
