import { expect, test } from "vitest";

import type { Exit, PlacementView, WorkloadPhase, WorkloadView } from "./api/types";
import {
  asFile,
  exitTone,
  exitWord,
  facetsOf,
  isShown,
  lastExit,
  modeStory,
  modeWord,
  placementCause,
  placementLook,
  programWords,
  soon,
  verbsFor,
} from "./workload";

const NOW = Date.parse("2026-01-31T12:00:00Z");
const exit = (minute: number, more: Partial<Exit> = {}): Exit => ({
  reason: "exited",
  code: 0,
  time: `2026-01-31T11:0${minute}:00Z`,
  ...more,
});
const place = (node: string, more: Partial<PlacementView> = {}): PlacementView => ({
  id: node,
  node,
  nodeState: "online",
  desired: "run",
  phase: "running",
  runs: 1,
  failures: 0,
  missed: 0,
  revision: 1,
  ...more,
});
const make = (phase: WorkloadPhase, more: Partial<WorkloadView> = {}): WorkloadView => ({
  id: "w1",
  name: "web",
  project: "default",
  spec: { command: ["sleep", "10 s"], tags: ["blue"] },
  desired: "run",
  revision: 1,
  generation: 1,
  status: { phase, ready: 1, wanted: 1, restarts: 0 },
  placements: [place("n1")],
  createdBy: "ada",
  timeCreated: "2026-01-31T11:00:00Z",
  timeModified: "2026-01-31T11:00:00Z",
  ...more,
});

test("modes and programs in words", () => {
  expect(modeWord({})).toBe("once");
  expect(modeWord({ mode: { times: 1 } })).toBe("1 time");
  const schedule = { mode: { schedule: { cron: "30 3 * * *", timezone: "Europe/Berlin" } } };
  expect([modeWord(schedule), modeStory(schedule)]).toEqual([
    "30 3 * * *",
    "30 3 * * * Europe/Berlin",
  ]);
  expect(programWords({ command: ["sh", "-c", "a b"] })).toBe("sh -c 'a b'");
  expect(programWords({ python: { module: "jobs.nightly" } })).toBe("python jobs.nightly:run");
});

test("how it stands on a node holds only while the node is heard of", () => {
  expect(placementLook(place("n1")).word).toBe("Running");
  expect(placementLook(place("n1", { nodeState: "offline" })).word).toBe("Unknown");
  expect(placementLook(place("n1", { phase: null })).word).toBe("Not told yet");
  const sick = place("n1", { nodeState: "stale", reason: "exit code 1", failures: 3, missed: 2 });
  expect(placementCause(sick)).toBe(
    "the node is stale; exit code 1; 3 failures in a row; 2 times left out",
  );
});

test("ends", () => {
  const placements = [place("a", { lastExit: exit(1) }), place("b", { lastExit: exit(5) })];
  expect(lastExit(make("running", { placements }))?.time).toBe("2026-01-31T11:05:00Z");
  expect(lastExit(make("running"))).toBeUndefined();
  const killed = exit(1, { reason: "out-of-memory", code: null, signal: 9 });
  expect([exitWord(killed), exitTone(killed)]).toEqual(["out of memory", "bad"]);
  expect([exitWord(exit(1)), exitTone(exit(1))]).toEqual(["0", "good"]);
  expect(exitTone(exit(1, { reason: "stopped", signal: 15 }))).toBe("muted");
});

test.each([
  ["2026-01-31T12:00:07Z", "in 7 s"],
  ["2026-01-31T11:59:00Z", "now"],
  ["2026-01-31T14:30:00Z", "in 2 h 30 m"],
  [undefined, ""],
])("soon(%s)", (then, words) => expect(soon(then, NOW)).toBe(words));

test.each<[WorkloadPhase, WorkloadView["desired"], string[]]>([
  ["running", "run", ["restart", "stop", "rm"]],
  ["failed", "run", ["start", "stop", "rm"]],
  ["stopping", "stop", ["start", "rm"]],
  ["removing", "remove", []],
])("what can be done with one that is %s (%s)", (phase, desired, verbs) =>
  expect(verbsFor(make(phase, { desired }))).toEqual(verbs),
);

test("filters, and what there is to filter by", () => {
  const list = [make("running"), make("idle", { name: "job", spec: {}, placements: [] })];
  const names = (filter: Parameters<typeof isShown>[1]): string[] =>
    list.filter((one) => isShown(one, filter)).map(({ name }) => name);
  expect(names({})).toEqual(["web", "job"]);
  expect(names({ state: "idle" })).toEqual(["job"]);
  expect(names({ tag: "blue" })).toEqual(["web"]);
  expect(names({ node: "n1", state: "idle" })).toEqual([]);
  for (const text of ["WEB", "sleep", "blue", "n1 "]) expect(names({ text })).toEqual(["web"]);
  expect(facetsOf(list)).toEqual({
    states: [
      { state: "running", count: 1 },
      { state: "idle", count: 1 },
    ],
    tags: ["blue"],
    nodes: ["n1"],
  });
});

test("a spec as a file has its name, and sizes in words but for what is the user's own", () => {
  const spec = { command: ["a"], limits: { memory: 2 ** 28 }, env: { memory: "7" } };
  expect(asFile(make("running", { spec }))).toEqual({
    name: "web",
    command: ["a"],
    limits: { memory: "256MiB" },
    env: { memory: "7" },
  });
});
