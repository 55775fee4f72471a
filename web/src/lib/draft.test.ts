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
    gpus: "some",
    priority: "high",
    range: "9-1",
    timeout: "soon",
    selector: "ssd",
    env: "PATH",
    workdir: "here",
  };
  expect(Object.keys(buildTask(draft, undefined, true).mistakes).sort()).toEqual([
    "command",
    "cores",
    "env",
    "gpus",
    "memory",
    "name",
    "priority",
    "range",
    "selector",
    "timeout",
    "workdir",
  ]);
  expect(buildTask(draft).mistakes.range).toBeUndefined();
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

test("what the form has no field for is kept, and told to the command line", () => {
  const spec: WorkloadSpec = {
    runtime: "container",
    command: ["train"],
    container: {
      image: "team/train:3",
      pull: "missing",
      network: "none",
      mounts: [{ source: "/srv/data", target: "/data", readOnly: true }],
    },
    limits: { memory: 2 ** 30 },
    resources: { cores: 4, exclusive: true, gpus: { count: 2, model: "A100" }, numa: 1 },
    placement: { constraints: ["kernel >= 6.1"] },
    queue: { priority: 5, after: [{ task: "build" }, { task: "probe", on: "fail" }] },
  };
  const { body } = buildTask(draftOf(spec), spec);
  expect(body).toEqual({ spec });
  expect(body && taskRun(body, "default")).toBe(
    "hostler run --cores 4 --exclusive --gpus 2,model=A100 --numa 1 --memory-limit 1GiB" +
      " --constraint 'kernel >= 6.1' --priority 5 --after build --after probe:fail" +
      " --image team/train:3 --mount /srv/data:/data:ro --network none -- train",
  );
});

test("an array needs a range; an image needs no command", () => {
  const draft = { ...draftOf(undefined), image: "debian:12" };
  expect(Object.keys(buildTask(draft, undefined, true).mistakes)).toEqual(["range"]);
  const { body } = buildTask({ ...draft, range: "1-9 % 3" }, undefined, true);
  expect(body).toEqual({
    spec: { runtime: "container", container: { image: "debian:12" } },
    range: "1-9%3",
  });
  expect(body && taskRun(body, "lab")).toBe(
    "hostler task submit -p lab --array 1-9%3 --image debian:12",
  );
});

test("taking the image away makes it a process again", () => {
  const spec: WorkloadSpec = { runtime: "container", command: ["a"], container: { image: "x" } };
  const draft = { ...draftOf(spec), image: "" };
  expect(buildTask(draft, spec).body).toEqual({ spec: { command: ["a"] } });
});
