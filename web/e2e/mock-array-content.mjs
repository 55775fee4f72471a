// The arrays that the mock shows, and some of their tasks.

import { before, START, uuid7 } from "./mock-content.mjs";

const GIB = 2 ** 30;
const STEP = ["sh", "-c", "./step $HOSTLER_ARRAY_INDEX"];

// name, range, size, seconds since it was submitted, how many are in each state, more
const ARRAYS = [
  [
    "sweep",
    "1-10000%50",
    10_000,
    900,
    { completed: 4702, failed: 2, killed_oom: 1, running: 50, pending: 5245 },
    { command: STEP, cores: 1, memory: GIB },
  ],
  [
    "together",
    "0-3",
    4,
    2400,
    { running: 4 },
    { command: ["torchrun", "train.py"], cores: 16, gpus: 8, isGang: true },
  ],
  [
    "frames",
    "1-240",
    240,
    50_000,
    { completed: 240 },
    { command: ["renderd", "--frame-from-index"], cores: 4, memory: 8 * GIB, by: "mira" },
  ],
];

// array, index, state, how it ended, what it said
const MEMBERS = [
  ["sweep", 17, "failed", { reason: "exited", code: 3 }, "exit code 3"],
  ["sweep", 902, "failed", { reason: "timed-out", signal: 15 }, "took longer than 10m"],
  ["sweep", 2204, "killed_oom", { reason: "out-of-memory", signal: 9 }, "out of memory: signal 9"],
  ["sweep", 4711, "running", undefined, "running on stall-1"],
];

export function seedArrays() {
  const arrays = ARRAYS.map(([name, range, size, age, counts, more]) => ({
    id: uuid7(START - age * 1000),
    name,
    project: "default",
    range,
    size,
    isGang: more.isGang ?? false,
    isStopping: false,
    tally: { ...counts },
    spec: {
      runtime: "process",
      mode: "once",
      command: more.command,
      stop: { signal: "SIGTERM", grace: "10s" },
      resources: {
        cores: more.cores,
        ...(more.memory && { memory: more.memory }),
        ...(more.gpus && { gpus: more.gpus }),
      },
      ...(more.isGang && { queue: { nodes: size } }),
    },
    createdBy: more.by ?? "admin",
    generation: 1,
    timeCreated: before(age),
  }));
  const members = MEMBERS.map(([of, index, state, exit, message]) => {
    const array = arrays.find(({ name }) => name === of);
    const age = 900 - index / 10;
    const ended = exit && before(age - 30);
    return {
      id: uuid7(START - age * 1000),
      name: `${of}-${index}`,
      project: "default",
      spec: array.spec,
      array: { array: array.id, index },
      attempts: 1,
      timeReady: before(age),
      status: {
        state,
        message,
        isStopping: false,
        node: "stall-1",
        run: uuid7(),
        timeStarted: before(age - 1),
        ...(exit && { exit: { ...exit, time: ended }, timeEnded: ended }),
      },
      createdBy: "admin",
      generation: 3,
      timeCreated: before(age),
      timeModified: before(age - 30),
      output: [],
    };
  });
  return { arrays, members };
}
