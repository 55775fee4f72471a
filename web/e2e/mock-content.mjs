// What the mock shows: a small fleet and a morning's work.

import { randomBytes } from "node:crypto";

const GIB = 2 ** 30;
export const START = Date.now();

/** A version 7 UUID of a moment, so that ids sort by time as the server's do. */
export function uuid7(time = Date.now()) {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(time, 0, 6);
  bytes[6] = (bytes[6] & 0x0f) | 0x70;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join("-");
}

export const before = (seconds) => new Date(START - seconds * 1000).toISOString();

const MACHINES = [
  [
    "stall-1",
    "online",
    { site: "barn", disk: "ssd" },
    16,
    64,
    0.42,
    0.38,
    "AMD Ryzen 9 7950X",
    "Debian GNU/Linux 13 (trixie)",
  ],
  [
    "stall-2",
    "online",
    { site: "barn", disk: "ssd" },
    16,
    64,
    0.93,
    0.71,
    "AMD Ryzen 9 7950X",
    "Debian GNU/Linux 13 (trixie)",
  ],
  [
    "stall-3",
    "online",
    { site: "barn", disk: "hdd" },
    8,
    32,
    0.08,
    0.22,
    "Intel Xeon E-2378",
    "Ubuntu 24.04.3 LTS",
  ],
  [
    "paddock",
    "stale",
    { site: "field" },
    4,
    8,
    0.15,
    0.54,
    "Cortex-A76",
    "Debian GNU/Linux 12 (bookworm)",
  ],
  [
    "farrier",
    "online",
    { site: "barn", gpu: "l4" },
    32,
    128,
    0.57,
    0.63,
    "AMD EPYC 9354P",
    "Rocky Linux 9.6",
  ],
  [
    "far-field",
    "offline",
    { site: "field" },
    4,
    8,
    0,
    0,
    "Cortex-A76",
    "Debian GNU/Linux 12 (bookworm)",
  ],
];

export function seedNodes(isFresh) {
  return MACHINES.slice(0, isFresh ? 1 : undefined).map(
    ([name, state, labels, cores, memory, cpuRatio, memoryRatio, cpuModel, os], index) => ({
      id: uuid7(START - 40 * 86_400_000),
      name,
      labels,
      state,
      cordon:
        name === "stall-3"
          ? { reason: "replacing a disk", isDraining: false, time: before(5400) }
          : undefined,
      facts: {
        hostname: name,
        os,
        kernel: "6.12.48",
        architecture: cpuModel.startsWith("Cortex") ? "aarch64" : "x86_64",
        bootId: uuid7(),
        machineId: "",
        cores,
        cpuModel,
        memory: memory * GIB,
        swap: 0,
        numa: [],
        disks: [
          {
            mount: "/",
            device: "/dev/nvme0n1p2",
            filesystem: "ext4",
            size: 931 * GIB,
            available: (931 - 180 - 40 * index) * GIB,
          },
        ],
        temperatures: [{ sensor: "coretemp Package id 0", celsius: 48 + 3 * index, critical: 100 }],
        diskHealth: [
          {
            device: "nvme0",
            kind: "nvme",
            model: "980 PRO",
            lifeUsed: 4 + 30 * index,
            celsius: 41,
          },
        ],
        addresses: [`10.20.0.${11 + index}`],
        cgroup: "v2",
        gpus:
          name === "farrier"
            ? [0, 1, 2].map((index) => ({
                index,
                uuid: `GPU-${index + 1}`,
                model: "NVIDIA L4",
                memory: 24 * GIB,
                driver: "580.65",
                numa: 0,
                ...(index === 2 && { trouble: "Xid 79: GPU has fallen off the bus" }),
              }))
            : [],
        isRoot: true,
      },
      metrics: {
        load1m: cpuRatio * cores,
        cpuRatio,
        memoryUsed: memoryRatio * memory * GIB,
        diskUsed: (180 + 40 * index) * GIB,
        diskSize: 931 * GIB,
        uptimeSeconds: 86_400 * (3 + index),
        runsActive: Math.round(cpuRatio * 7),
        agentMemory: 18 * 2 ** 20,
        temperature: 48 + 3 * index,
        gpus:
          name === "farrier"
            ? [0, 1].map((index) => ({
                index,
                utilisation: 0.91 - 0.6 * index,
                memoryUsed: (19 - 12 * index) * GIB,
                temperature: 71 - 14 * index,
                power: 68 - 30 * index,
                processes: 1,
                errors: 0,
              }))
            : [],
        writes: { today: (12 + index) * 2 ** 20, budget: 256 * 2 ** 20 },
      },
      agentVersion: "0.1.0",
      generation: 12,
      desiredGeneration: 40 + index,
      appliedGeneration: state === "stale" ? 39 + index : 40 + index,
      timeCreated: before(40 * 86_400),
      timeSeen: before({ online: 1, stale: 47, offline: 9 * 3600 }[state]),
      timeState: before({ online: 90_000, stale: 32, offline: 9 * 3600 - 60 }[state]),
    }),
  );
}

const BUILD = `[ 212/1480] CC  render/tile.o
[ 213/1480] CC  render/light.o
[ 214/1480] CC  render/sample.o
! render/sample.c:88: warning: unused variable 'weight' [-Wunused-variable]
[ 215/1480] CC  render/shade.o
[ 216/1480] CC  scene/load.o
[ 217/1480] CC  scene/graph.o
[ 218/1480] CC  scene/bounds.o
[ 219/1480] CC  scene/instance.o
[ 220/1480] AR  libscene.a
[ 221/1480] CC  io/exr.o
[ 222/1480] CC  io/png.o`;
const CHATTER = [
  "[ 223/1480] CC  io/tiff.o",
  "[ 224/1480] CC  io/stream.o",
  "[ 225/1480] LD  renderd",
  "[ 226/1480] TEST scene/load",
];

// name, state, node, seconds since it was submitted, seconds it waited, seconds it ran, command, more
const WORK = [
  [
    "build-renderd",
    "running",
    "stall-2",
    131,
    1,
    0,
    ["make", "-C", "/srv/renderd", "-j16", "all"],
    { output: BUILD, chatter: CHATTER, cores: 8, memory: 8 * GIB, timeout: "1h" },
  ],
  [
    "train-classifier",
    "pending",
    "",
    214,
    0,
    0,
    ["python3", "train.py", "--epochs", "40"],
    { selector: { gpu: "a100" }, cores: 16, message: "waiting: no node carries gpu=a100" },
  ],
  [
    "publish-index",
    "pending",
    "",
    290,
    0,
    0,
    ["publish", "/srv/index"],
    {
      queue: {
        priority: 10,
        after: [{ task: "nightly-index" }, { task: "sweep", on: "any" }],
        retry: { times: 3, delay: "1s", maxDelay: "5m", on: ["failed", "timed-out", "lost"] },
      },
      message: "waiting: after nightly-index has completed",
    },
  ],
  [
    "encode-archive",
    "paused",
    "farrier",
    310,
    4,
    0,
    ["encode", "--preset", "slow", "/srv/archive/2019"],
    { cores: 8, gpus: { count: 1, share: 0.5, model: "L4" }, message: "paused on farrier" },
  ],
  [
    "thumbs-2419",
    "completed",
    "stall-1",
    322,
    1,
    48,
    ["thumbnailer", "--size", "320", "/srv/photos/2419"],
    { output: "312 files, 0 skipped" },
  ],
  [
    "thumbs-2418",
    "completed",
    "farrier",
    401,
    1,
    51,
    ["thumbnailer", "--size", "320", "/srv/photos/2418"],
    {},
  ],
  [
    "nightly-index",
    "running",
    "farrier",
    1510,
    2,
    0,
    ["indexer", "--shards", "8", "--source", "/srv/archive"],
    { output: "shard 5 of 8: 61 %", cores: 4, memory: 16 * GIB },
  ],
  [
    "verify-backups",
    "failed",
    "stall-1",
    2260,
    1,
    374,
    ["restic", "check", "--read-data-subset=5%"],
    {
      code: 1,
      output:
        "load indexes\ncheck all packs\n! pack 7f3a91c2 contains 1 errors: blob hash mismatch\n! Fatal: repository contains errors",
    },
  ],
  [
    "rotate-certs",
    "completed",
    "stall-3",
    3605,
    1,
    4,
    ["/usr/local/bin/rotate-certs", "--all"],
    {},
  ],
  [
    "export-catalogue",
    "killed",
    "stall-2",
    4720,
    1,
    610,
    ["sh", "-c", "catalogue dump | zstd -19 > /srv/out/catalogue.zst"],
    { by: "mira" },
  ],
  [
    "probe-field",
    "lost",
    "far-field",
    33_100,
    2,
    0,
    ["probe", "--interval", "30s"],
    { message: "its node far-field has been away for 9 hours" },
  ],
  [
    "render-042",
    "completed",
    "farrier",
    34_800,
    3,
    1904,
    ["renderd", "--scene", "042", "--samples", "512"],
    { by: "mira" },
  ],
  [
    "render-041",
    "killed_oom",
    "farrier",
    37_000,
    3,
    702,
    ["renderd", "--scene", "041", "--samples", "512"],
    { reason: "out-of-memory", signal: 9, by: "mira" },
  ],
  [
    "render-040",
    "completed",
    "farrier",
    39_500,
    3,
    1877,
    ["renderd", "--scene", "040", "--samples", "512"],
    { by: "mira" },
  ],
  [
    "prune-snapshots",
    "completed",
    "stall-3",
    43_300,
    1,
    31,
    ["restic", "forget", "--prune", "--keep-daily", "14"],
    {},
  ],
  [
    "mirror-packages",
    "completed",
    "stall-1",
    50_600,
    1,
    2210,
    ["rsync", "-a", "--delete", "/srv/mirror/", "stall-3:/srv/mirror/"],
    {},
  ],
  [
    "thumbs-2417",
    "completed",
    "stall-1",
    52_000,
    1,
    44,
    ["thumbnailer", "--size", "320", "/srv/photos/2417"],
    {},
  ],
  ["smoke", "completed", "stall-1", 60_000, 0, 0.4, ["echo", "hello"], { output: "hello" }],
];

function chunk(line) {
  const stream = line.startsWith("! ") ? "stderr" : "stdout";
  return {
    stream,
    time: before(60),
    data: Buffer.from(`${line.replace(/^! /, "")}\n`).toString("base64"),
  };
}

export function seedTasks() {
  return WORK.map(([name, state, node, age, waited, ran, command, more]) => {
    const isEnded = ["completed", "failed", "killed", "killed_oom"].includes(state);
    const ended = before(age - waited - ran);
    const {
      reason = state === "killed" ? "stopped" : "exited",
      signal = state === "killed" ? 15 : undefined,
    } = more;
    const code = signal === undefined ? (more.code ?? 0) : undefined;
    const words = {
      running: `running on ${node}`,
      completed: "ended well: exit code 0",
      failed: `exit code ${code}`,
      killed_oom: "out of memory: signal 9",
      killed: "stopped on request: signal 15",
    };
    return {
      id: uuid7(START - age * 1000),
      name,
      project: "default",
      spec: {
        runtime: "process",
        mode: "once",
        command,
        ...(more.timeout && { timeout: more.timeout }),
        stop: { signal: "SIGTERM", grace: "10s" },
        resources: {
          cores: more.cores ?? 0.02,
          memory: more.memory ?? 0,
          ...(more.gpus && { gpus: more.gpus }),
        },
        placement: more.selector ? { selector: more.selector } : {},
        ...(more.queue && { queue: more.queue }),
      },
      attempts: state === "pending" ? 0 : 1,
      timeReady: before(age),
      status: {
        state,
        message: more.message ?? words[state],
        isStopping: false,
        ...(node && { node }),
        ...(state !== "pending" && { run: uuid7(), timeStarted: before(age - waited) }),
        ...(["running", "paused"].includes(state) && { pid: 31_877 }),
        ...(isEnded && { timeEnded: ended, exit: { reason, code, signal, time: ended } }),
      },
      createdBy: more.by ?? "admin",
      generation: 3,
      timeCreated: before(age),
      timeModified: ended,
      output: (more.output ?? "").split("\n").filter(Boolean).map(chunk),
      ...(more.chatter && { chatter: more.chatter }),
    };
  });
}
