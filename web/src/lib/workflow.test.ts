import { expect, test } from "vitest";

import type { ExecutionStepView, ExecutionView, Problem } from "./api/types";
import {
  actWords,
  buildRun,
  doneAgain,
  executionGraph,
  executionLook,
  mistakesOf,
  nodesOf,
  progressWords,
  readMistake,
  readValues,
  stepFacts,
  stepLook,
  stepStory,
  whereWords,
  type RunDraft,
} from "./workflow";

type Standing = ExecutionStepView["standing"];

function step(
  name: string,
  standing: Standing,
  more: Partial<ExecutionStepView> = {},
): ExecutionStepView {
  const status =
    typeof standing === "string"
      ? standing
      : "ended" in standing
        ? standing.ended
        : (Object.keys(standing)[0] ?? "");
  return { name, status, standing, tries: 1, dependsOn: [], ...more };
}

function execution(more: Partial<ExecutionView>): ExecutionView {
  return {
    id: "e",
    workflow: "release",
    version: 1,
    state: "running",
    isCancelRequested: false,
    createdBy: "ada",
    timeCreated: "",
    options: {},
    ...more,
  };
}

const RUNNING: Standing = { running: { attempt: 1, since: "1s" } };

test.each<[string, Partial<ExecutionView>]>([
  ["Preparing", { state: "preparing" }],
  ["Beginning", { state: "beginning" }],
  ["Settling", { state: "settling" }],
  ["Running", { state: "running" }],
  ["Finishing", { state: "finishing", outcome: "failed" }],
  ["Cancelling", { state: "running", isCancelRequested: true }],
  ["Cancelled", { state: "ended", outcome: "cancelled", isCancelRequested: true }],
  ["Succeeded", { state: "ended", outcome: "succeeded" }],
  ["Timed out", { state: "ended", outcome: "timed-out" }],
  ["of-tomorrow", { state: "of-tomorrow" }],
])("an execution that is %s", (word, more) =>
  expect(executionLook(execution(more)).word).toBe(word),
);

test("a step that waits for people is told from one that runs", () => {
  const asking = step("ask", RUNNING, { approval: "a" });
  expect(stepLook(asking).word).toBe("Awaits approval");
  const tasks = [{ id: "t", kind: "try", try: 1 }];
  expect(stepLook({ ...asking, tasks }).word).toBe("Running");
  expect(stepLook(step("ask", { ended: "succeeded" }, { approval: "a" })).word).toBe("Succeeded");
});

test("a step says why it was skipped", () => {
  expect(stepStory(step("a", { skipped: "dependency" }))).toBe(
    "something that it depends on did not succeed",
  );
  expect(stepStory(step("a", { ended: "failed" }, { message: "exit code 3" }))).toBe("exit code 3");
  expect(stepStory(step("a", "waiting"))).toBe("");
});

test("progress in words", () => {
  const steps = [
    step("a", { ended: "succeeded" }),
    step("b", { ended: "succeeded" }),
    step("c", { ended: "timed-out" }),
    step("d", { skipped: "dependency" }),
    step("e", RUNNING),
  ];
  expect(progressWords(steps)).toBe("4 of 5 steps are over: 2 succeeded, 1 timed out, 1 skipped");
  expect(progressWords([step("a", "waiting")])).toBe("0 of 1 step is over");
});

test("nodes are named once", () => {
  const of = (node: string | null): NonNullable<ExecutionStepView["tasks"]>[number] => ({
    id: "t",
    kind: "try",
    try: 1,
    node,
  });
  expect(nodesOf(step("a", RUNNING, { tasks: [of("n2"), of("n1"), of("n2"), of(null)] }))).toEqual([
    "n2",
    "n1",
  ]);
});

test("a retry does again what did not succeed, and what comes after a step that is named", () => {
  const steps = [
    step("build", { ended: "succeeded" }),
    step("test", { ended: "failed" }, { dependsOn: ["build"] }),
    step("pack", { skipped: "dependency" }, { dependsOn: ["test"] }),
    step("docs", { ended: "succeeded" }, { dependsOn: ["build"] }),
    step("deploy", { ended: "uncertain" }),
    step("never", { skipped: "condition" }),
    step("alarm", { skipped: "no-failure" }),
    step("back", { ended: "succeeded" }, { isUndone: true }),
  ];
  const definition = [{ name: "alarm", afterFailureOf: ["deploy"] }];
  const graph = executionGraph(steps, definition);
  const again = (from: string | undefined, uncertain: boolean): string[] =>
    doneAgain(steps, graph, { from, uncertain });
  expect(again(undefined, false)).toEqual(["test", "pack", "alarm", "back"]);
  expect(again(undefined, true)).toContain("deploy");
  expect(again("build", false)).toEqual(["build", "test", "pack", "docs", "alarm", "back"]);
  expect(again("deploy", false)).toContain("deploy");
  const well = [step("a", { ended: "succeeded" })];
  expect(doneAgain(well, executionGraph(well), { from: undefined, uncertain: true })).toEqual([]);
});

test("what a step does", () => {
  expect(actWords({ command: "make -j2" })).toBe("make -j2");
  expect(actWords({ program: ["echo", "a b"] })).toBe("echo 'a b'");
  expect(actWords("function")).toBe("a function of the file");
  expect(actWords(undefined)).toContain("nothing");
  expect(actWords({ approval: { count: 2, approvers: ["ada", "eve"], message: "live?" } })).toBe(
    "waits until 2 of ada, eve agree: live?",
  );
  expect(actWords({ approval: { count: 0 } })).toBe("waits until somebody agrees");
  expect(actWords({ approval: { count: 2 } })).toBe("waits until 2 people agree");
});

test("where a step runs", () => {
  expect(whereWords(undefined)).toBe("");
  expect(whereWords({ targets: { nodes: ["n1", "n2"] }, fallback: true })).toBe(
    "n1, n2, or where the execution runs",
  );
  expect(whereWords({ targets: { labels: { role: "web", ssd: "" } } })).toBe(
    "a node with role=web, ssd",
  );
  expect(whereWords({ targets: { all: { role: "web" } } })).toBe("every node with role=web");
});

test("a definition in facts, without what it does not say", () => {
  expect(
    stepFacts({
      name: "test",
      act: "function",
      dependsOn: ["build"],
      timeout: "1m",
      retry: { retries: 2, backoff: "exponential", delay: "5s" },
      runIf: [{ command: "test -f x" }, { always: false }],
      compensation: "function",
      mayFail: true,
      place: { file: "release.sloth", line: 9 },
    }),
  ).toEqual([
    ["After", "build"],
    ["Timeout", "1m"],
    ["Tried again", "up to 2 times, 5s apart, exponential"],
    ["Only if", "test -f x; never"],
    ["Undone by", "a function of the file"],
    ["Failure", "does not count"],
    ["Written at", "release.sloth:9"],
  ]);
  expect(stepFacts({ name: "a", retry: { retries: 0 } })).toEqual([]);
});

test("values are an object or nothing", () => {
  expect(readValues(" ")).toEqual({ ok: true, value: undefined });
  expect(readValues('{"tag": "v2"}')).toEqual({ ok: true, value: { tag: "v2" } });
  for (const text of ["[1]", "null", "3", "{"]) expect(readValues(text).ok).toBe(false);
});

test("what is sent to run a workflow has only what was chosen", () => {
  const draft: RunDraft = {
    version: undefined,
    values: "",
    only: [],
    delegateTo: [],
    secrets: [],
  };
  expect(buildRun(draft)).toEqual({ ok: true, value: { options: {} } });
  const full = { version: 2, values: '{"a":1}', only: ["x"], delegateTo: ["n1"], secrets: ["db"] };
  expect(buildRun(full)).toEqual({
    ok: true,
    value: {
      version: 2,
      values: { a: 1 },
      options: { only: ["x"], delegateTo: ["n1"], secrets: ["db"] },
    },
  });
  expect(buildRun({ ...draft, values: "x" }).ok).toBe(false);
});

test("mistakes of a file are told with their lines", () => {
  const detail = "release.sloth:3:5: expected '='\n    locl x\n        ^";
  expect(readMistake(detail)).toEqual({
    file: "release.sloth",
    line: 3,
    text: "expected '='",
    excerpt: "locl x\n    ^",
  });
  const files = { "a.lua": "one\ntwo  \nthree" };
  expect(readMistake("a.lua:2: there is no task `x`: did you mean `y`?", files)).toEqual({
    file: "a.lua",
    line: 2,
    text: "there is no task `x`: did you mean `y`?",
    excerpt: "two",
  });
  expect(readMistake("it takes too long")).toEqual({
    file: "",
    line: undefined,
    text: "it takes too long",
    excerpt: "",
  });
  const problem = {
    errors: [
      { pointer: "/bundle", detail },
      { pointer: "/name", detail: "too long" },
    ],
  } as Problem;
  expect(mistakesOf(problem, {}).map(({ line }) => line)).toEqual([3]);
});
