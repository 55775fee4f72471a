import { expect, test } from "vitest";

import type { TimelineEntry } from "./api/types";
import {
  entryKey,
  entryLook,
  entryRoute,
  otherWords,
  remarks,
  SOURCE_KINDS,
  timelineCommand,
  type TimelineOf,
} from "./timeline";

const web: TimelineOf = { kind: "workload", id: "w1", name: "web" };

const entry = (more: Partial<TimelineEntry>): TimelineEntry => ({
  time: "2026-01-01T00:00:00Z",
  source: "event",
  what: "workload.started",
  object: { kind: "workload", id: "w1", name: "web" },
  message: "run 1 began",
  id: "7",
  ...more,
});

test.each([
  ["event", "workload.failed", "bad"],
  ["node", "node.offline", "bad"],
  ["run", "run.ended", "muted"],
  ["run", "run.lost", "odd"],
  ["fire", "fire.missed", "wait"],
  ["delivery", "delivery.dead", "bad"],
  ["audit", "workload.failed", "muted"],
] as const)("%s %s looks %s, and says what it is", (source, what, tone) => {
  expect(entryLook({ source, what })).toMatchObject({ word: what, tone });
});

test("rows lead to where more is told", () => {
  expect(entryRoute(entry({}), "lab")).toEqual({
    page: "events",
    project: "lab",
    isGlobal: true,
    event: 7,
  });
  const object = { kind: "schedule", id: "s1", name: "nightly" } as const;
  expect(entryRoute(entry({ source: "fire", object }), "lab")).toEqual({
    page: "schedules",
    project: "lab",
    schedule: "nightly",
  });
  expect(entryRoute(entry({ source: "audit", cause: "r-1" }), "lab")).toEqual({
    page: "audit",
    text: "r-1",
  });
  expect(entryRoute(entry({ source: "run", id: "r1" }), "lab")).toBeUndefined();
});

test("only what is about something else says about what", () => {
  expect(otherWords(entry({}), web)).toBe("");
  const object = { kind: "node", id: "n1", name: "web-1" } as const;
  expect(otherWords(entry({ object }), web)).toBe("node web-1");
  expect(otherWords(entry({ object: { ...object, name: "" } }), web)).toBe("node n1");
});

test("numbers of different sources are different rows", () => {
  expect(entryKey(entry({}))).not.toBe(entryKey(entry({ source: "audit" })));
  expect(SOURCE_KINDS).toContain("delivery");
});

test("what is left out is said", () => {
  expect(remarks({})).toEqual([]);
  expect(remarks({ leftOut: [{ source: "audit", needs: "audit.read" }] })).toEqual([
    "Without audit entries: seeing them takes audit.read.",
  ]);
});

test("the command line shows the same", () => {
  expect(timelineCommand(web, "lab")).toBe("hostler timeline workload/web -p lab");
  expect(timelineCommand({ kind: "node", id: "n", name: "n1" }, "lab", "event")).toBe(
    "hostler timeline node/n1 --source event",
  );
});
