// What the mock does with arrays, the queue and the accounts.

import { uuid7 } from "./mock-content.mjs";
import { makeTask } from "./mock-tasks.mjs";
import { carryOut, change, find, finish, later, Refusal } from "./mock-world.mjs";

const GIB = 2 ** 30;
const SETTLED = ["completed", "failed", "killed", "killed_oom", "stopped", "lost", "rejected"];

/** Arrays of the seed are counted by a tally; those that were submitted, by their tasks. */
function viewOf(world, array) {
  const { tally, ...view } = array;
  const counts = { ...tally };
  if (!tally)
    for (const { array: seat, status } of world.tasks.values())
      if (seat?.array === array.id) counts[status.state] = (counts[status.state] ?? 0) + 1;
  const settled = SETTLED.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
  const unsettled = array.size - settled;
  return {
    ...view,
    isStopping: array.isStopping && unsettled > 0,
    counts,
    unsettled,
    unsuccessful: settled - (counts.completed ?? 0),
  };
}

/** What runs ends well, and what waits takes its place. */
export function beatArrays(world) {
  for (const { tally, isGang, isStopping } of world.arrays.values()) {
    if (!tally?.running || isGang || isStopping) continue;
    const done = Math.min(24, tally.pending ?? 0);
    tally.completed += done;
    tally.pending -= done;
  }
}

function indexesOf(range) {
  const [ranges] = range.split("%");
  return ranges.split(",").flatMap((part) => {
    const [, first, last = first, step = 1] =
      /^(\d+)(?:-(\d+))?(?::(\d+))?$/.exec(part)?.map((word) => word && Number(word)) ?? [];
    if (first === undefined)
      throw new Refusal(
        422,
        "invalid",
        "the array is not valid",
        "correct the fields that are named",
        [{ pointer: "/range", detail: `\`${range}\` is not a range` }],
      );
    return Array.from(
      { length: Math.floor((last - first) / step) + 1 },
      (_, at) => first + at * step,
    );
  });
}

function kill(world, array) {
  array.isStopping = true;
  const own = [...world.tasks.values()].filter((task) => task.array?.array === array.id);
  for (const task of own) {
    if (SETTLED.includes(task.status.state)) continue;
    const exit = { reason: "stopped", signal: 15 };
    finish(world, task, "killed", exit, "stopped on request: signal 15");
  }
  const { tally } = array;
  if (!tally) return;
  tally.killed = (tally.killed ?? 0) + (tally.pending ?? 0);
  tally.pending = 0;
  later(world, 1500, () => {
    tally.killed += tally.running ?? 0;
    tally.running = 0;
  });
}

function queueOf(world, project) {
  const own = [...world.tasks.values()].filter((task) => task.project === project.name);
  const counts = {};
  const count = (state, many) => {
    if (many > 0 && !SETTLED.includes(state)) counts[state] = (counts[state] ?? 0) + many;
  };
  const isTallied = ({ array }) => world.arrays.get(array?.array)?.tally;
  for (const task of own) if (!isTallied(task)) count(task.status.state, 1);
  for (const array of world.arrays.values())
    if (array.project === project.name)
      for (const [state, many] of Object.entries(array.tally ?? {})) count(state, many);
  const isHeld = ({ status }) => ["assigning", "running", "paused"].includes(status.state);
  const held = own.filter(isHeld).map(({ spec }) => spec.resources ?? {});
  const sum = (pick) => held.reduce((total, resources) => total + pick(resources), 0);
  const waiting = own.filter(({ status }) => status.state === "pending");
  return {
    project: project.name,
    weight: project.weight ?? 1,
    quota: project.quota ?? {},
    counts,
    cores: sum(({ cores = 0 }) => cores),
    memory: sum(({ memory = 0 }) => memory),
    gpus: sum(({ gpus = 0 }) => (typeof gpus === "number" ? gpus : (gpus.share ?? 1))),
    next: waiting
      .sort((a, b) => (b.spec.queue?.priority ?? 0) - (a.spec.queue?.priority ?? 0))
      .map((task, at) => ({
        id: task.id,
        name: task.name,
        position: at + 1,
        priority: task.spec.queue?.priority ?? 0,
        timeReady: task.timeReady,
        reason: task.status.message.replace(/^waiting: /, ""),
      })),
  };
}

// project, user, tasks, core-hours, GPU-hours, GiB-hours, hours, mean wait in seconds
const ACCOUNTS = [
  ["default", "admin", 4812, 1530.25, 12.5, 2210, 420.1, 3.2],
  ["default", "mira", 263, 988.4, 310.75, 4100, 61, 42],
  ["render-farm", "mira", 90, 2204, 0, 9120.5, 140.2, 610],
  ["site-backups", "backup-bot", 31, 4.2, 0, 8.25, 4.1, 0.4],
].map(([project, user, tasks, coreHours, gpuHours, memoryGibHours, runHours, waitSecondsMean]) => ({
  project,
  user,
  tasks,
  coreHours,
  gpuHours,
  memoryGibHours,
  runHours,
  waitSecondsMean,
}));

const QUOTAS = {
  default: { weight: 2, quota: { cores: 64, memory: 256 * GIB, gpus: 8, tasks: 20_000 } },
  "render-farm": { weight: 1, quota: { cores: 32 } },
};

export const ARRAY_ROUTES = [
  [
    "GET",
    /^\/api\/v1\/projects\/(?<project>[^/]+)\/task-arrays$/,
    "viewer",
    ({ world, path }) => ({
      items: [...world.arrays.values()]
        .filter(({ project }) => project === path.project)
        .sort((a, b) => (a.id < b.id ? 1 : -1))
        .map((array) => viewOf(world, array)),
    }),
  ],
  [
    "POST",
    /^\/api\/v1\/projects\/(?<project>[^/]+)\/task-arrays$/,
    "user",
    ({ world, path, body, session }) => {
      const indexes = indexesOf(body.range);
      const name = body.name ?? `array-${world.arrays.size}`;
      const array = {
        id: uuid7(),
        name,
        project: path.project,
        range: body.range,
        size: indexes.length,
        isGang: false,
        isStopping: false,
        spec: { stop: { signal: "SIGTERM", grace: "10s" }, ...body.spec },
        createdBy: session.name,
        generation: 1,
        timeCreated: new Date().toISOString(),
      };
      world.arrays.set(array.id, array);
      for (const index of indexes.slice(0, 200)) {
        const seat = { array: array.id, index };
        const task = makeTask(path.project, `${name}-${index}`, body.spec, session.name, seat);
        world.tasks.set(task.id, task);
        change(world, `task:${task.project}`, task, "ADDED");
        carryOut(world, task);
      }
      return viewOf(world, array);
    },
  ],
  [
    "GET",
    /^\/api\/v1\/projects\/[^/]+\/task-arrays\/(?<array>[^/]+)$/,
    "viewer",
    ({ world, path }) => viewOf(world, find(world.arrays, path.array, "task array")),
  ],
  [
    "POST",
    /^\/api\/v1\/projects\/[^/]+\/task-arrays\/(?<array>[^/]+)\/kill$/,
    "user",
    ({ world, path }) => {
      const array = find(world.arrays, path.array, "task array");
      kill(world, array);
      return viewOf(world, array);
    },
  ],
  [
    "GET",
    /^\/api\/v1\/queue$/,
    "any",
    ({ world }) => ({
      projects: world.projects.map((project) =>
        queueOf(world, { ...project, ...QUOTAS[project.name] }),
      ),
    }),
  ],
  [
    "GET",
    /^\/api\/v1\/accounts$/,
    "any",
    ({ query }) => {
      const [from, to] = [query.get("from") ?? "", query.get("to") ?? "9"];
      if (from > to)
        throw new Refusal(
          422,
          "invalid",
          "the request is not valid",
          "correct the fields that are named",
          [{ pointer: "/query/from", detail: "the first day comes after the last" }],
        );
      const project = query.get("project");
      const isPast = to < "2026";
      return {
        items: isPast ? [] : ACCOUNTS.filter((line) => !project || line.project === project),
      };
    },
  ],
];
