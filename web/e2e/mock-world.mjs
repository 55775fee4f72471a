// The mock's world: nodes, tasks, workloads and their output, what happened to them, and who listens.

import { seedArrays } from "./mock-array-content.mjs";
import { seedNodes, seedTasks, uuid7 } from "./mock-content.mjs";
import { seedWorkloads } from "./mock-services.mjs";

const HISTORY = 500;

export class Refusal extends Error {
  constructor(status, code, detail, hint, errors = []) {
    super(detail);
    Object.assign(this, { status, code, detail, hint, errors });
  }
}

export function makeWorld(isFresh) {
  const { arrays, members } = seedArrays();
  const projects = ["default", "render-farm", "site-backups"].map((name) => ({
    id: uuid7(),
    name,
    description: "",
    generation: 1,
    timeCreated: new Date().toISOString(),
    timeModified: new Date().toISOString(),
  }));
  return {
    needsSetup: isFresh,
    users: isFresh
      ? new Map()
      : new Map([
          ["admin", { password: "hostler", role: "admin" }],
          ["vera", { password: "hostler", role: "viewer" }],
        ]),
    sessions: new Map(),
    keys: new Map(),
    projects: isFresh ? projects.slice(0, 1) : projects,
    nodes: new Map(seedNodes(isFresh).map((node) => [node.id, node])),
    tasks: new Map((isFresh ? [] : [...seedTasks(), ...members]).map((task) => [task.id, task])),
    arrays: new Map((isFresh ? [] : arrays).map((array) => [array.id, array])),
    workloads: new Map((isFresh ? [] : seedWorkloads()).map((one) => [one.id, one])),
    blobs: new Map(),
    output: new Map(),
    sequence: 1000,
    history: [],
    watchers: new Set(),
    readers: new Set(),
    timers: new Set(),
  };
}

export function find(map, key, kind) {
  const found = map.get(key) ?? [...map.values()].find((item) => item.name === key);
  if (!found)
    throw new Refusal(
      404,
      "not-found",
      `there is no ${kind} \`${key}\``,
      `list them with \`hostler ${kind} ls\``,
    );
  return found;
}

export function tell({ topic, response }, entry) {
  if (entry.topic !== topic) return;
  const message = {
    type: entry.type,
    cursor: String(entry.cursor),
    id: entry.object.id,
    object: entry.object,
  };
  response.write(`event: ${entry.type}\nid: ${entry.cursor}\ndata: ${JSON.stringify(message)}\n\n`);
}

export function change(world, topic, object, type = "MODIFIED") {
  object.generation += 1;
  object.timeModified = new Date().toISOString();
  announce(world, topic, object, type);
  return object;
}

/** Tells those who watch, and those who will ask from an earlier cursor. */
export function announce(world, topic, object, type = "ADDED") {
  const entry = { cursor: ++world.sequence, topic, type, object: structuredClone(object) };
  world.history.push(entry);
  if (world.history.length > HISTORY) world.history.shift();
  for (const watcher of world.watchers) tell(watcher, entry);
}

export function later(world, ms, act) {
  const timer = setTimeout(() => {
    world.timers.delete(timer);
    act();
  }, ms);
  world.timers.add(timer);
}

export function setStatus(world, task, status) {
  Object.assign(task.status, status);
  change(world, `task:${task.project}`, task);
}

function write(world, task, stream, text) {
  const held = world.output.get(task.id) ?? [];
  held.push({ stream, time: new Date().toISOString(), data: Buffer.from(text).toString("base64") });
  world.output.set(task.id, held);
  for (const reader of world.readers) if (reader.task === task) feed(world, reader);
}

export function feed(world, reader) {
  const held = world.output.get(reader.task.id) ?? reader.task.output ?? [];
  for (; reader.at < held.length; reader.at++)
    reader.response.write(
      JSON.stringify({ type: "data", ...held[reader.at], cursor: String(reader.at + 1) }) + "\n",
    );
  if (reader.task.status.timeEnded)
    reader.response.end(JSON.stringify({ type: "end", complete: true }) + "\n");
}

export function finish(world, task, state, exit, message) {
  if (task.status.timeEnded) return;
  const time = new Date().toISOString();
  if (state === "completed") world.keep?.(task, time);
  setStatus(world, task, {
    state,
    message,
    exit: { ...exit, time },
    timeEnded: time,
    isStopping: false,
    pid: undefined,
  });
  for (const reader of world.readers) if (reader.task === task) feed(world, reader);
}

/** What a node would do with a task: a few commands are understood, the rest end well and say nothing. */
export function carryOut(world, task) {
  const node = [...world.nodes.values()].find((candidate) => candidate.state === "online")?.name;
  const [program, ...rest] = task.spec.command ?? [];
  task.attempts += 1;
  later(world, 300, () =>
    setStatus(world, task, { state: "assigning", node, message: `given to ${node}` }),
  );
  later(world, 700, () => {
    if (task.status.isStopping) return;
    const started = new Date().toISOString();
    setStatus(world, task, {
      state: "running",
      run: uuid7(),
      pid: 4242,
      timeStarted: started,
      message: `running on ${node}`,
    });
    if (program === "sleep") return;
    if (program === "echo") write(world, task, "stdout", `${rest.join(" ")}\n`);
    later(world, 600, () =>
      program === "false"
        ? finish(world, task, "failed", { reason: "exited", code: 1 }, "exit code 1")
        : finish(
            world,
            task,
            "completed",
            { reason: "exited", code: 0 },
            "ended well: exit code 0",
          ),
    );
  });
}

/** Heartbeats, of which a watch says nothing: load moves, online nodes stay fresh, the seeded build goes on talking. */
export function beat(world) {
  for (const node of world.nodes.values()) {
    if (node.state !== "online") continue;
    node.timeSeen = new Date().toISOString();
    node.metrics.cpuRatio = Math.min(
      0.98,
      Math.max(0.02, node.metrics.cpuRatio + (Math.random() - 0.5) / 10),
    );
  }
  for (const task of world.tasks.values()) {
    if (!task.chatter || task.status.state !== "running") continue;
    if (!world.output.has(task.id)) world.output.set(task.id, [...task.output]);
    const line =
      task.chatter[(world.output.get(task.id).length - task.output.length) % task.chatter.length];
    write(world, task, "stdout", `${line}\n`);
  }
}

/** What a handler returns that answers by itself. */
export const STREAMING = Symbol("streaming");

export function listOrWatch({ world, query, response }, topic, items) {
  if (query.get("watch") !== "true") return { items, watchCursor: String(world.sequence) };
  const since = Number(query.get("cursor"));
  const oldest = world.history[0]?.cursor ?? world.sequence + 1;
  if (since + 1 < oldest && since < world.sequence)
    throw new Refusal(
      410,
      "cursor-gone",
      "the cursor points before what is kept",
      "list again from the start",
    );
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(": hello\n\n");
  const watcher = { topic, response };
  for (const entry of world.history) if (entry.cursor > since) tell(watcher, entry);
  world.watchers.add(watcher);
  response.on("close", () => world.watchers.delete(watcher));
  return STREAMING;
}
