// What the mock does with tasks: submitted, killed, paused, resumed, tried again, explained, read.

import { randomUUID } from "node:crypto";

import { uuid7 } from "./mock-content.mjs";
import {
  carryOut,
  change,
  feed,
  find,
  finish,
  later,
  listOrWatch,
  Refusal,
  setStatus,
  STREAMING,
} from "./mock-world.mjs";

export function makeTask(project, name, spec, by, array) {
  const now = new Date().toISOString();
  return {
    id: uuid7(),
    name,
    project,
    spec: {
      runtime: "process",
      mode: "once",
      stop: { signal: "SIGTERM", grace: "10s" },
      resources: { cores: 0.02, memory: 0 },
      placement: {},
      ...spec,
    },
    ...(array && { array }),
    attempts: 0,
    timeReady: now,
    status: { state: "pending", message: "waiting to be placed", isStopping: false },
    createdBy: by,
    generation: 1,
    timeCreated: now,
    timeModified: now,
  };
}

const VERBS = {
  pause(world, task) {
    const { state } = task.status;
    if (!["pending", "assigning", "running", "paused"].includes(state))
      throw new Refusal(
        409,
        "conflict",
        `the task is ${state}`,
        "only what waits or runs can be paused and resumed",
      );
    if (state !== "pending")
      setStatus(world, task, { state: "paused", message: `paused on ${task.status.node}` });
  },
  resume(world, task) {
    if (task.status.state === "paused")
      setStatus(world, task, { state: "running", message: `running on ${task.status.node}` });
  },
  retry(world, task) {
    const before = { ...task.status };
    task.past = [pastRun(world, task, before), ...(task.past ?? [])];
    task.status = { state: "pending", message: "waiting to be placed", isStopping: false };
    change(world, `task:${task.project}`, task);
    carryOut(world, task);
  },
};

function pastRun(world, task, status) {
  const isLost = status.state === "lost";
  return {
    id: status.run ?? uuid7(),
    attempt: task.attempts,
    nodeId: [...world.nodes.values()].find(({ name }) => name === status.node)?.id ?? uuid7(),
    state: isLost ? "lost" : "exited",
    exit: status.exit,
    timeCreated: status.timeStarted ?? task.timeCreated,
    timeStarted: status.timeStarted,
    timeEnded: status.timeEnded,
  };
}

function runsOf(world, task) {
  const { state, run, timeEnded } = task.status;
  const now = run && pastRun(world, task, task.status);
  if (now && !timeEnded && state !== "lost") now.state = state === "paused" ? state : "running";
  return [...(now ? [now] : []), ...(task.past ?? [])];
}

export const TASK_ROUTES = [
  [
    "GET",
    /^\/api\/v1\/projects\/(?<project>[^/]+)\/tasks$/,
    "viewer",
    (context) => {
      const state = context.query.get("state");
      const array = context.query.get("array");
      const of = array && find(context.world.arrays, array, "task array").id;
      const own = [...context.world.tasks.values()].filter(
        (task) => task.project === context.path.project,
      );
      const tasks = own
        .filter((task) => !state || task.status.state === state)
        .filter((task) => !of || task.array?.array === of)
        .sort((a, b) => (a.id < b.id ? 1 : -1));
      return listOrWatch(context, `task:${context.path.project}`, tasks);
    },
  ],
  [
    "POST",
    /^\/api\/v1\/projects\/(?<project>[^/]+)\/tasks$/,
    "user",
    ({ world, path, body, session }) => {
      const { spec } = body;
      const taken = [...world.tasks.values()].some((task) => task.name === body.name);
      if (taken)
        throw new Refusal(
          409,
          "already-exists",
          `a task named \`${body.name}\` exists already`,
          "choose another name",
        );
      const name =
        body.name ??
        `${(spec.command?.[0] ?? "task").replace(/.*\//, "").replace(/[^a-z0-9]/g, "")}-${randomUUID().slice(0, 5)}`;
      const task = makeTask(path.project, name, spec, session.name);
      world.tasks.set(task.id, task);
      change(world, `task:${task.project}`, task, "ADDED");
      if (!spec.placement?.selector && !spec.placement?.node && !spec.queue?.after?.length)
        carryOut(world, task);
      return task;
    },
  ],
  [
    "GET",
    /^\/api\/v1\/projects\/[^/]+\/tasks\/(?<task>[^/]+)$/,
    "viewer",
    ({ world, path }) => find(world.tasks, path.task, "task"),
  ],
  [
    "DELETE",
    /^\/api\/v1\/projects\/[^/]+\/tasks\/(?<task>[^/]+)$/,
    "user",
    ({ world, path }) => {
      const task = find(world.tasks, path.task, "task");
      world.tasks.delete(task.id);
      change(world, `task:${task.project}`, task, "DELETED");
    },
  ],
  [
    "POST",
    /^\/api\/v1\/projects\/[^/]+\/tasks\/(?<task>[^/]+)\/kill$/,
    "user",
    ({ world, path }) => {
      const task = find(world.tasks, path.task, "task");
      setStatus(world, task, { isStopping: true, message: "stopping on request" });
      later(world, 900, () =>
        finish(
          world,
          task,
          "killed",
          { reason: "stopped", signal: 15 },
          "stopped on request: signal 15",
        ),
      );
      return task;
    },
  ],
  [
    "POST",
    /^\/api\/v1\/projects\/[^/]+\/tasks\/(?<task>[^/]+)\/(?<verb>pause|resume|retry)$/,
    "user",
    ({ world, path }) => {
      const task = find(world.tasks, path.task, "task");
      VERBS[path.verb](world, task);
      return task;
    },
  ],
  [
    "GET",
    /^\/api\/v1\/projects\/[^/]+\/tasks\/(?<task>[^/]+)\/runs$/,
    "viewer",
    ({ world, path }) => ({ items: runsOf(world, find(world.tasks, path.task, "task")) }),
  ],
  [
    "GET",
    /^\/api\/v1\/projects\/[^/]+\/tasks\/(?<task>[^/]+)\/explain$/,
    "viewer",
    ({ world, path }) => {
      const task = find(world.tasks, path.task, "task");
      const { state, message } = task.status;
      if (state !== "pending")
        return { state, summary: `it is ${state}: ${message}`, nodes: [], hints: [] };
      return {
        state,
        summary: "No node fits: none carries every label, or has enough left.",
        nodes: [...world.nodes.values()].map((node) => ({
          node: node.name,
          isFitting: false,
          reasons:
            node.state === "online"
              ? [`lacks the label gpu=a100`, `has 3.5 of the 16 cores that are asked for`]
              : [`is ${node.state}`],
          labels: node.labels,
        })),
        hints: [
          "Label a node with `hostler node label NAME gpu=a100`, or submit the task with another selector.",
        ],
      };
    },
  ],
  [
    "GET",
    /^\/api\/v1\/projects\/[^/]+\/tasks\/(?<task>[^/]+)\/logs$/,
    "viewer",
    ({ world, path, query, response }) => {
      const task = find(world.tasks, path.task, "task");
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      const reader = { task, at: Number(query.get("cursor") ?? 0), response };
      world.readers.add(reader);
      response.on("close", () => world.readers.delete(reader));
      feed(world, reader);
      return STREAMING;
    },
  ],
];
