// The workloads that the mock shows: services of a small fleet in all the ways they can stand.

import { uuid7 } from "./mock-content.mjs";

const START = Date.now();
const MIB = 2 ** 20;
const before = (seconds) => new Date(START - seconds * 1000).toISOString();
const after = (seconds) => new Date(START + seconds * 1000).toISOString();

export const exit = (reason, code, signal, seconds, message) => ({
  reason,
  ...(code !== undefined && { code }),
  ...(signal !== undefined && { signal }),
  ...(message && { message }),
  time: before(seconds),
});

/** How one stands on a node: what differs from one that runs well. */
export function placement(node, more = {}) {
  return {
    id: uuid7(),
    node,
    nodeState: "online",
    desired: "run",
    phase: "running",
    runs: 1,
    failures: 0,
    missed: 0,
    revision: 1,
    run: uuid7(),
    pid: 20_000 + Math.floor(Math.random() * 9000),
    since: before(86_400 * 2),
    ...more,
  };
}

const quiet = { phase: "idle", pid: undefined, since: undefined, run: undefined };
const ACCESS = [
  '10.20.0.4 "GET /basket HTTP/1.1" 200 8123 14ms',
  '10.20.0.9 "GET /search?q=halter HTTP/1.1" 200 30418 41ms',
  '10.20.0.4 "POST /basket HTTP/1.1" 303 0 22ms',
  "! upstream catalogue: timeout after 2s, trying again",
  '10.20.0.7 "GET /saddles/western HTTP/1.1" 200 18022 19ms',
];

const SERVICES = [
  {
    name: "shop-front",
    spec: {
      mode: "forever",
      command: ["/srv/shop/bin/front", "--listen", "0.0.0.0:8080", "--workers", "8"],
      env: { CATALOGUE: "http://catalogue.internal:9000", LOG_LEVEL: "info" },
      user: "shop",
      health: [
        { check: { http: { port: 8080, path: "/healthz" } }, interval: "10s", startPeriod: "30s" },
      ],
      restart: { delay: "500ms", maxDelay: "30s" },
      limits: { memory: 512 * MIB, cpu: 2, files: 8192 },
      tags: ["web", "prod"],
      version: "2.14.1",
      placement: { selector: { disk: "ssd" }, count: 2 },
      resources: { cores: 1, memory: 256 * MIB },
      stop: { signal: "SIGTERM", grace: "20s" },
    },
    placements: [
      placement("stall-1", { health: "healthy", runs: 2, since: before(9_300) }),
      placement("stall-2", { health: "healthy", since: before(86_400 * 3) }),
    ],
    exits: [exit("out-of-memory", undefined, 9, 9_310, "used 512 MiB of 512 MiB")],
    lines: ACCESS,
    cpu: 0.7,
    memory: 310,
  },
  {
    name: "catalogue",
    spec: {
      mode: "forever",
      command: ["/srv/catalogue/serve", "--db", "/srv/catalogue/data"],
      health: [{ check: { tcp: { port: 9000 } } }],
      depends: [{ workload: "catalogue-migrate", condition: "completed" }],
      limits: { memory: 2048 * MIB },
      tags: ["web", "prod"],
      version: "1.8.0",
      placement: { node: "farrier" },
    },
    placements: [placement("farrier", { health: "healthy" })],
    lines: ["answered 1204 questions, 0 refused", "compacted 14 segments in 210 ms"],
    cpu: 1.4,
    memory: 1420,
  },
  {
    name: "catalogue-migrate",
    spec: {
      mode: "once",
      command: ["/srv/catalogue/migrate", "--to", "1.8.0"],
      tags: ["prod"],
      placement: { node: "farrier" },
    },
    placements: [placement("farrier", { ...quiet, phase: "completed" })],
    exits: [exit("exited", 0, undefined, 172_900)],
    lines: ["14 tables, nothing to do"],
    status: { phase: "completed" },
  },
  {
    name: "metrics",
    spec: {
      mode: "forever",
      command: ["/usr/local/bin/node-exporter", "--port", "9101"],
      health: [{ check: { http: { port: 9101, path: "/metrics" } } }],
      limits: { memory: 64 * MIB, nice: 5 },
      tags: ["ops"],
      placement: { every: true },
    },
    placements: ["farrier", "paddock", "stall-1", "stall-2", "stall-3"]
      .map((node) =>
        placement(node, { health: "healthy", ...(node === "paddock" && { nodeState: "stale" }) }),
      )
      .concat(placement("far-field", { health: "healthy", nodeState: "offline" }))
      .sort((a, b) => (a.node < b.node ? -1 : 1)),
    status: { phase: "partly-running", ready: 5, reason: "node `far-field` is offline" },
    lines: ["served 3120 samples in 4 ms"],
    cpu: 0.01,
    memory: 21,
  },
  {
    name: "nightly-backup",
    spec: {
      mode: { schedule: { cron: "30 3 * * *", timezone: "Europe/Berlin", jitter: "5m" } },
      command: ["restic", "backup", "--one-file-system", "/srv"],
      timeout: "4h",
      tags: ["ops"],
      placement: { node: "stall-3" },
    },
    placements: [placement("stall-3", { ...quiet, runs: 41, next: after(19_260) })],
    exits: [
      exit("exited", 0, undefined, 67_300),
      exit("exited", 0, undefined, 153_600),
      exit("exited", 3, undefined, 240_100, "some files could not be read"),
    ],
    status: { phase: "idle", next: after(19_260) },
    lines: ["Files: 41 new, 312 changed, 88120 unmodified", "snapshot 91ac04be saved"],
    cause: "schedule",
  },
  {
    name: "thumbnails",
    spec: {
      mode: "forever",
      command: ["thumbnailer", "--watch", "/srv/photos"],
      restart: { delay: "1s", maxDelay: "5m" },
      tags: ["photos"],
      placement: { node: "stall-2" },
    },
    placements: [
      placement("stall-2", {
        ...quiet,
        phase: "backoff",
        runs: 8,
        failures: 7,
        reason: "exit code 1; started again after a wait",
        next: after(84),
      }),
    ],
    exits: [exit("exited", 1, undefined, 6), exit("exited", 1, undefined, 71)],
    status: {
      phase: "backoff",
      ready: 0,
      restarts: 7,
      reason: "exit code 1; started again after a wait",
      next: after(84),
    },
    lines: ["! cannot open /srv/photos: Transport endpoint is not connected"],
  },
  {
    name: "weather-feed",
    spec: {
      mode: "forever",
      python: { module: "feed", entry: "main", params: { interval: 30 } },
      command: [],
      health: [{ check: { log: "^ok " }, unhealthyAfter: 3, onUnhealthy: "mark" }],
      tags: ["field"],
      placement: { selector: { site: "field" }, count: 1 },
    },
    placements: [
      placement("paddock", {
        nodeState: "stale",
        health: "unhealthy",
        reason: "no line matched ^ok for 90 s",
      }),
    ],
    status: { ready: 0, health: "unhealthy", reason: "no line matched ^ok for 90 s" },
    lines: ["! station 3: no answer"],
    cpu: 0.02,
    memory: 38,
  },
  {
    name: "embeddings",
    spec: {
      mode: "forever",
      command: ["python3", "-m", "embed.serve"],
      resources: { cores: 8, memory: 32_768 * MIB },
      placement: { selector: { gpu: "a100" } },
    },
    placements: [],
    status: { phase: "pending", ready: 0, reason: "it is on 0 of 1 nodes" },
  },
  {
    name: "old-importer",
    spec: {
      mode: "forever",
      command: ["/opt/importer/run"],
      placement: { node: "stall-1" },
    },
    desired: "stop",
    placements: [placement("stall-1", { ...quiet, phase: "stopped", desired: "stop" })],
    exits: [exit("stopped", undefined, 15, 400_000)],
    status: { phase: "stopped", ready: 0, wanted: 0 },
  },
];

export function view(name, project, spec, createdBy) {
  const time = new Date().toISOString();
  return {
    id: uuid7(),
    name,
    project,
    spec: {
      runtime: "process",
      ...spec,
      stop: spec.stop ?? { signal: "SIGTERM", grace: "10s" },
      resources: spec.resources ?? { cores: 0.02, memory: 0 },
      placement: spec.placement ?? {},
    },
    desired: "run",
    revision: 1,
    generation: 1,
    status: { phase: "pending", ready: 0, wanted: spec.placement?.count ?? 1, restarts: 0 },
    placements: [],
    createdBy,
    timeCreated: time,
    timeModified: time,
    runs: [],
    lines: [],
  };
}

/** One line of output as the mock keeps it; `! ` marks standard error. */
export function line(node, text, time = new Date().toISOString()) {
  const stream = text.startsWith("! ") ? "stderr" : "stdout";
  return { type: "data", node, stream, time, text: text.replace(/^! /, "") };
}

export function seedWorkloads() {
  return SERVICES.map((seed) => {
    const made = view(seed.name, "default", seed.spec, "mira");
    const placements = seed.placements;
    const health = placements.map((one) => one.health).find(Boolean);
    const exits = seed.exits ?? [];
    const first = placements[0];
    if (first && exits[0]) first.lastExit = exits[0];
    const ended = exits.map((how, index) => ({
      id: uuid7(),
      node: first.node,
      number: first.runs - index - (first.pid ? 1 : 0),
      cause: seed.cause ?? (index === exits.length - 1 ? "start" : "restart"),
      state: "exited",
      exit: how,
      timeStarted: new Date(Date.parse(how.time) - 311_000).toISOString(),
      timeEnded: how.time,
    }));
    const live = placements
      .filter((one) => one.pid)
      .map((one) => ({
        id: one.run,
        node: one.node,
        number: one.runs,
        cause: one.runs > 1 ? "restart" : "start",
        state: "running",
        pid: one.pid,
        timeStarted: one.since,
      }));
    const lines = placements.flatMap((one, at) =>
      (seed.lines ?? []).map((text, index) => line(one.node, text, before(55 - 4 * index - at))),
    );
    lines.sort((a, b) => (a.time < b.time ? -1 : 1));
    if (exits[0]?.reason === "out-of-memory") {
      const node = first.node;
      lines.unshift(
        line(node, "! out of room while building the index", before(9_312)),
        { type: "mark", node, time: exits[0].time, detail: "run 1 ended: out of memory: signal 9" },
        { type: "gap", node, detail: "2 KiB could not be kept" },
        { type: "mark", node, time: before(9_300), detail: "run 2 began" },
      );
    }
    return Object.assign(made, {
      placements,
      desired: seed.desired ?? "run",
      timeCreated: before(86_400 * 30),
      timeModified: before(86_400 * 3),
      runs: [...live, ...ended],
      lines,
      chatter: first?.pid ? (seed.lines ?? []) : [],
      load: { cpu: seed.cpu ?? 0, memory: seed.memory ?? 0 },
      status: {
        phase: "running",
        ready: placements.length,
        wanted: seed.spec.placement?.count ?? Math.max(1, placements.length),
        restarts: placements.reduce((sum, one) => sum + (one.pid ? one.runs - 1 : 0), 0),
        ...(health && { health }),
        ...seed.status,
      },
    });
  });
}
