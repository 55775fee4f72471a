// The endpoints of workloads in the mock, and what its nodes do with them: whatever is applied is
// placed on the first node that is online, started and kept; it says hello, then a line now and then.

import { uuid7 } from "./mock-content.mjs";
import { line, placement, view } from "./mock-services.mjs";
import { change, find, later, listOrWatch, Refusal, STREAMING } from "./mock-world.mjs";

const BASE = "/api/v1/projects/(?<project>[^/]+)/workloads";
const one = (tail = "") => new RegExp(`^${BASE}/(?<workload>[^/]+)${tail}$`);
const get = ({ world, path }) => find(world.workloads, path.workload, "workload");

/** What the API shows of one; the rest is the mock's own. */
function shown(workload) {
  return Object.fromEntries(
    Object.entries(workload).filter(([key]) => !["runs", "lines", "chatter", "load"].includes(key)),
  );
}

function tell(world, workload, type) {
  const copy = shown(workload);
  change(world, `workload:${workload.project}`, copy, type);
  Object.assign(workload, { generation: copy.generation, timeModified: copy.timeModified });
  return copy;
}

function say(world, workload, item) {
  workload.lines.push(item);
  for (const reader of world.readers) if (reader.workload === workload) feedLines(reader);
}

function feedLines(reader) {
  const { workload, query, response } = reader;
  const isSeveral = workload.placements.length > 1;
  const grep = query.get("grep") ? new RegExp(query.get("grep")) : undefined;
  for (; reader.at < workload.lines.length; reader.at++) {
    const { text, node, ...item } = workload.lines[reader.at];
    if (query.get("node") && node !== query.get("node")) continue;
    if (query.get("since") && item.time && item.time < query.get("since")) continue;
    if (grep && (item.type !== "data" || !grep.test(text))) continue;
    const cursor = item.type === "gap" ? {} : { cursor: `${node}=${reader.at + 1}` };
    const data = item.type === "data" ? { data: Buffer.from(`${text}\n`).toString("base64") } : {};
    response.write(
      JSON.stringify({ ...item, ...(isSeveral && { node }), ...data, ...cursor }) + "\n",
    );
  }
  if (query.get("follow") !== "true")
    response.end(JSON.stringify({ type: "end", complete: true }) + "\n");
}

function begin(world, workload) {
  const online = [...world.nodes.values()].filter(({ state }) => state === "online");
  const [node] = online.map(({ name }) => name).sort();
  const there = workload.placements[0] ?? placement(node, { runs: 0, phase: "starting" });
  const number = workload.runs.length + 1;
  const since = new Date().toISOString();
  Object.assign(there, {
    desired: "run",
    phase: "running",
    run: uuid7(),
    pid: 4000 + number,
    since,
    runs: there.runs + 1,
    revision: workload.revision,
  });
  workload.placements = [there];
  workload.runs.unshift({
    id: there.run,
    node,
    number,
    cause: number === 1 ? "start" : "restart",
    state: "running",
    pid: there.pid,
    timeStarted: since,
  });
  workload.status = { phase: "running", ready: 1, wanted: 1, restarts: there.runs - 1 };
  say(world, workload, { type: "mark", node, time: since, detail: `run ${number} began` });
  say(
    world,
    workload,
    line(node, /echo ([\w-]+)/.exec(workload.spec.command?.at(-1) ?? "")?.[1] ?? "hello"),
  );
  workload.chatter = ["tick"];
  tell(world, workload);
}

function end(world, workload) {
  const time = new Date().toISOString();
  const exit = { reason: "stopped", signal: 15, time };
  workload.chatter = [];
  for (const there of workload.placements) {
    const run = workload.runs.find(({ id }) => id === there.run);
    if (run?.state === "running") {
      Object.assign(run, { state: "exited", exit, timeEnded: time, pid: undefined });
      const detail = `run ${run.number} ended: stopped on request: signal 15`;
      say(world, workload, { type: "mark", node: there.node, time, detail });
    }
    const still = { phase: "stopped", desired: "stop", pid: undefined, since: undefined };
    Object.assign(there, { ...still, next: undefined, lastExit: exit });
  }
  workload.status = { phase: "stopped", ready: 0, wanted: 0, restarts: 0 };
  tell(world, workload);
}

function under(world, workload, phase, act) {
  workload.status = { ...workload.status, phase };
  later(world, 600, () => act(world, workload));
  return tell(world, workload);
}

/** Samples of the last two hours, finer the newer. */
function samples(since, cpu, memory, more = () => ({})) {
  const items = [];
  const now = Date.now();
  for (let age = 7200; age > 0; age -= age > 3600 ? 60 : 10) {
    const time = now - age * 1000;
    if (time < since) continue;
    const wave =
      Math.sin(time / 400_000) + Math.sin(time / 61_000) / 2 + Math.sin(time / 17_000) / 4;
    items.push({
      time: new Date(time).toISOString(),
      seconds: age > 3600 ? 60 : 10,
      cpu: Math.max(0, cpu * (1 + wave / 2.2)),
      memory: Math.round(memory * (1 + wave / 14) * 2 ** 20),
      ...more(wave),
    });
  }
  return { items };
}

function explanation(world, workload) {
  const there = new Map(workload.placements.map((found) => [found.node, found]));
  return {
    phase: workload.status.phase,
    summary:
      there.size > 0
        ? `It is on ${there.size} of ${workload.status.wanted} nodes.`
        : "It is on no node: none carries every label.",
    nodes: [...world.nodes.values()].map((node) => {
      const found = there.get(node.name);
      const standing = found && [found.phase, found.reason].filter(Boolean).join(": ");
      const reasons = found ? [] : [`lacks the label gpu=a100`];
      return { node: node.name, labels: node.labels, standing, isFitting: Boolean(found), reasons };
    }),
    hints:
      there.size > 0
        ? []
        : ["Label a node with `hostler node label NAME gpu=a100`, or change its placement."],
  };
}

const changed = (context, act) => {
  const workload = get(context);
  if (workload.desired === "remove")
    throw new Refusal(
      409,
      "conflict",
      `workload \`${workload.name}\` is being removed`,
      "wait until it is gone",
    );
  return act(context.world, workload);
};

export const WORKLOAD_ROUTES = [
  [
    "GET",
    new RegExp(`^${BASE}$`),
    "viewer",
    (context) => {
      const own = [...context.world.workloads.values()].filter(
        ({ project }) => project === context.path.project,
      );
      return listOrWatch(context, `workload:${context.path.project}`, own.map(shown));
    },
  ],
  ["GET", one(), "viewer", (context) => shown(get(context))],
  [
    "PUT",
    one(),
    "user",
    ({ world, path, body, session }) => {
      const workload = view(path.workload, path.project, body, session.name);
      world.workloads.set(workload.id, workload);
      later(world, 500, () => begin(world, workload));
      return tell(world, workload, "ADDED");
    },
  ],
  [
    "DELETE",
    one(),
    "user",
    (context) =>
      changed(context, (world, workload) => {
        workload.desired = "remove";
        return under(world, workload, "removing", () => {
          world.workloads.delete(workload.id);
          tell(world, workload, "DELETED");
        });
      }),
  ],
  [
    "POST",
    one("/start"),
    "user",
    (context) =>
      changed(context, (world, workload) => {
        workload.desired = "run";
        return under(world, workload, "starting", begin);
      }),
  ],
  [
    "POST",
    one("/stop"),
    "user",
    (context) =>
      changed(context, (world, workload) => {
        workload.desired = "stop";
        return under(world, workload, "stopping", end);
      }),
  ],
  [
    "POST",
    one("/restart"),
    "user",
    (context) =>
      changed(context, (world, workload) => {
        workload.revision += 1;
        return under(world, workload, "stopping", () => {
          end(world, workload);
          begin(world, workload);
        });
      }),
  ],
  ["GET", one("/runs"), "viewer", (context) => ({ items: get(context).runs })],
  ["GET", one("/explain"), "viewer", (context) => explanation(context.world, get(context))],
  [
    "GET",
    one("/usage"),
    "viewer",
    (context) => {
      const { cpu, memory } = get(context).load ?? { cpu: 0.1, memory: 12 };
      return samples(Date.parse(context.query.get("since")), cpu, memory);
    },
  ],
  [
    "GET",
    one("/logs"),
    "viewer",
    (context) => {
      const { world, query, response } = context;
      const workload = get(context);
      try {
        new RegExp(query.get("grep") ?? "");
      } catch {
        throw new Refusal(
          422,
          "invalid",
          "this is not a regular expression",
          "write one as the Rust crate regex reads them",
        );
      }
      response.writeHead(200, { "content-type": "application/x-ndjson" });
      const seen = [...(query.get("cursor") ?? "").matchAll(/=(\d+)/g)].map(([, at]) => Number(at));
      const reader = { workload, query, at: Math.max(0, ...seen), response };
      world.readers.add(reader);
      response.on("close", () => world.readers.delete(reader));
      response.flushHeaders();
      feedLines(reader);
      return STREAMING;
    },
  ],
  [
    "GET",
    /^\/api\/v1\/nodes\/(?<node>[^/]+)\/workloads$/,
    "viewer",
    ({ world, path }) => {
      const { name } = find(world.nodes, path.node, "node");
      const items = [...world.workloads.values()].flatMap((workload) =>
        workload.placements
          .filter(({ node }) => node === name)
          .map((there) => ({
            project: workload.project,
            workload: workload.name,
            placement: there,
          })),
      );
      return { items };
    },
  ],
  [
    "GET",
    /^\/api\/v1\/nodes\/(?<node>[^/]+)\/usage$/,
    "viewer",
    ({ world, path, query }) => {
      const { facts, metrics } = find(world.nodes, path.node, "node");
      const used = Number(metrics.memoryUsed) / 2 ** 20;
      const heat = (wave) => ({ temperature: Math.round((52 + wave * 6) * 10) / 10 });
      return samples(Date.parse(query.get("since")), metrics.cpuRatio * facts.cores, used, heat);
    },
  ],
];

/** What runs goes on talking. */
export function beatWorkloads(world) {
  for (const workload of world.workloads.values()) {
    const { chatter = [], placements } = workload;
    if (chatter.length === 0 || placements.length === 0) continue;
    const at = workload.lines.length;
    const { node } = placements[at % placements.length];
    say(world, workload, line(node, chatter[at % chatter.length]));
  }
}
