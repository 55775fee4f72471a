// Figures over time, findings of the doctor, and backups of the control plane in the mock.

import { later, Refusal } from "./mock-world.mjs";

const STRETCHES = [
  { within: 3600, seconds: 10 },
  { within: 43_200, seconds: 60 },
  { within: 604_800, seconds: 900 },
];
const GIB = 2 ** 30;
const MADE_MS = 1500;
const before = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();

const wave = (time, long, short) => Math.sin(time / long) + Math.sin(time / short) / 3;
const count = (mean, swing, long) => (time) =>
  Math.max(0, Math.round(mean + swing * wave(time, long, 9e4)));
const flow = (mean, swing, long) => (time) => Math.max(0, mean + swing * wave(time, long, 7e4));

const FIGURES = [
  ["nodes.online", "count", count(3, 0.4, 3e6)],
  ["nodes.stale", "count", count(0, 0.5, 5e6)],
  ["nodes.offline", "count", count(1, 0.1, 3e6)],
  ["tasks.pending", "count", count(9, 8, 6e5)],
  ["tasks.assigning", "count", count(1, 1, 2e5)],
  ["tasks.running", "count", count(14, 6, 8e5)],
  ["tasks.paused", "count", () => 0],
  ["tasks.ended", "per-second", flow(0.6, 0.4, 5e5)],
  ["queue.wait", "seconds", flow(4, 3, 7e5)],
  ["queue.wait-most", "seconds", flow(40, 25, 7e5)],
  ["cpu.used", "cores", flow(41, 14, 8e5)],
  ["cpu.total", "cores", () => 88],
  ["memory.used", "bytes", flow(96 * GIB, 20 * GIB, 1e6)],
  ["memory.total", "bytes", () => 320 * GIB],
  ["gpu.used", "count", flow(2, 0.9, 9e5)],
  ["gpu.total", "count", () => 4],
  ["api.requests", "per-second", flow(22, 9, 4e5)],
  ["api.errors", "per-second", flow(-0.02, 0.03, 3e6)],
  ["api.latency", "seconds", flow(0.004, 0.0015, 4e5)],
  ["api.latency-p95", "seconds", flow(0.019, 0.008, 4e5)],
];

function history(since) {
  const now = Math.floor(Date.now() / 10_000) * 10_000;
  const { seconds } =
    STRETCHES.find(({ within }) => now - since <= within * 1000 + 20_000) ?? STRETCHES.at(-1);
  const times = [];
  for (let time = now; time > since; time -= seconds * 1000) times.unshift(time);
  // It was not there for a while: nothing was measured then.
  const isThere = (at) => times.length < 50 || at < times.length * 0.3 || at > times.length * 0.34;
  return {
    serverId: "00000000-0000-7000-8000-000000000001",
    times: times.filter((_, at) => isThere(at)).map((time) => new Date(time).toISOString()),
    seconds: times.filter((_, at) => isThere(at)).map(() => seconds),
    series: FIGURES.map(([name, unit, value]) => ({
      name,
      unit,
      values: times.filter((_, at) => isThere(at)).map(value),
    })),
  };
}

function diagnosis(world) {
  const { backups } = kept(world);
  const isRecent = backups.some(
    ({ standing, timeCreated }) => standing === "verified" && timeCreated > before(86_400),
  );
  const findings = [
    { check: "database", severity: "ok", what: "SQLite answers in 0.4ms; 212MiB", evidence: [] },
    { check: "reconcilers", severity: "ok", what: "all 31 go round" },
    {
      check: "nodes",
      severity: "warning",
      what: "1 of 5 nodes is offline: paddock",
      why: "What ran there is not looked after, and nothing new is placed there.",
      evidence: ["paddock: heard of 3h ago"],
      next: "on a node: systemctl status hostler-agent, and hostler agent status",
    },
    {
      check: "authority",
      severity: "notice",
      what: "the authority ends in 58 days",
      next: "hostler ca rotate",
    },
    { check: "audit", severity: "ok", what: "4,211 entries hold together" },
    isRecent
      ? { check: "backup", severity: "ok", what: "the last one is of today, and verified" }
      : {
          check: "backup",
          severity: "critical",
          what: "the last good backup is 2 days old; one is made every day",
          why: "What came since would be lost with the database.",
          evidence: [
            "hostler-20260101T030000Z.backup: verified",
            "the directory has 11GiB available",
          ],
          next: "hostler backup schedule --now; hostler backup ls",
          fix: "backup-now",
        },
  ];
  const worst = isRecent ? "warning" : "critical";
  return { worst, findings };
}

function kept(world) {
  world.controlBackups ??= {
    backups: [
      backup(100_000, "failed", { size: 0, problem: "no space left on device" }),
      backup(186_400, "verified"),
      backup(272_800, "verified"),
      backup(359_200, "elsewhere", { server: "hostler-2" }),
      backup(445_600, "unverified", { isSealed: false, hasMasterKey: true }),
    ],
  };
  return world.controlBackups;
}

function backup(age, standing, more = {}) {
  const timeCreated = before(age);
  return {
    name: `hostler-${timeCreated.slice(0, 19).replaceAll(/[-:]/g, "")}Z.backup`,
    server: "hostler-1",
    standing,
    size: 214_000_000 - age * 9,
    digest: "6f0c".repeat(16),
    ...(standing !== "failed" && { isSealed: true, hasMasterKey: false }),
    timeCreated,
    ...more,
  };
}

function clock(world) {
  const { backups } = kept(world);
  const good = backups.find(({ standing }) => standing === "verified");
  const isRecent = good.timeCreated > before(86_400);
  return {
    directory: "/var/backups/hostler",
    every: "1d",
    keep: 14,
    isSealed: true,
    hasMasterKey: false,
    hasContent: true,
    timeLastGood: good.timeCreated,
    ...(!isRecent && { problem: "no space left on device" }),
    timeNext: before(-4200),
    isOverdue: !isRecent,
  };
}

export const OVERVIEW_ROUTES = [
  [
    "GET",
    /^\/api\/v1\/metrics\/history$/,
    "viewer",
    ({ query }) => history(Date.parse(query.get("since") ?? before(3600))),
  ],
  ["GET", /^\/api\/v1\/diagnosis$/, "operator", ({ world }) => diagnosis(world)],
  ["GET", /^\/api\/v1\/backups$/, "operator", ({ world }) => ({ items: kept(world).backups })],
  ["GET", /^\/api\/v1\/backup-schedule$/, "operator", ({ world }) => clock(world)],
  [
    "POST",
    /^\/api\/v1\/backup-schedule\/run$/,
    "admin",
    ({ world }) => {
      const { backups } = kept(world);
      if (backups.some(({ standing }) => standing === "under-way"))
        throw new Refusal(409, "conflict", "a backup is made already", "wait until it is there");
      const made = backup(0, "under-way", { size: 0 });
      backups.unshift(made);
      later(world, MADE_MS, () => Object.assign(made, { standing: "verified", size: 215_000_000 }));
      return clock(world);
    },
  ],
];
