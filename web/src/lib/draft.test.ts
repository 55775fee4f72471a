import { expect, test } from "vitest";

import type { WorkloadSpec } from "./api/types";
import { taskRun } from "./cli";
import { buildTask, draftOf } from "./draft";

test("an empty form asks for a command and nothing else", () => {
  expect(Object.keys(buildTask(draftOf(undefined)).mistakes)).toEqual(["command"]);
});

test("a command alone makes a spec with nothing but a command", () => {
  const draft = { ...draftOf(undefined), command: "echo 'hello there'" };
  expect(buildTask(draft).body).toEqual({ spec: { command: ["echo", "hello there"] } });
});

test("every mistake is found at once", () => {
  const draft = {
    ...draftOf(undefined),
    command: "echo 'x",
    name: "Not A Name",
    cores: "two",
    memory: "lots",
    timeout: "soon",
    selector: "ssd",
    env: "PATH",
    workdir: "here",
  };
  expect(Object.keys(buildTask(draft).mistakes).sort()).toEqual(
    ["command", "cores", "env", "memory", "name", "selector", "timeout", "workdir"].sort(),
  );
});

test("running a task again says what the task said", () => {
  const spec: WorkloadSpec = {
    command: ["sh", "-c", "make -j4 | tee log"],
    env: { A: "1", B: "x=y z" },
    workdir: "/srv",
    user: "build",
    timeout: "1h30m",
    stop: { signal: "SIGINT", grace: "30s" },
    resources: { cores: 1.5, memory: 1536 * 2 ** 20 },
    placement: { node: "stall-1", selector: { disk: "ssd" } },
  };
  const { body } = buildTask(draftOf(spec), spec);
  expect(body).toEqual({ spec });
  expect(body && taskRun(body, "web")).toBe(
    "hostler run -p web --env A=1 --env 'B=x=y z' --workdir /srv --user build --timeout 1h30m" +
      " --cores 1.5 --memory 1.5GiB --node stall-1 -l disk=ssd -- sh -c 'make -j4 | tee log'",
  );
});
