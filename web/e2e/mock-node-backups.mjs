// Backups of nodes in the mock, and the operations that make, verify and restore them.

import { uuid7 } from "./mock-content.mjs";
import { find, later, Refusal } from "./mock-world.mjs";

const FILES = 230;
const PAGE = 100;
const BEGUN_MS = 300;
const DONE_MS = 1500;
const GIB = 2 ** 30;
const now = () => new Date().toISOString();
const before = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();
const ACTOR = { kind: "user", name: "mira" };

function outcome(files, bytes, troubles = []) {
  const volume = { digest: "6f0c".repeat(16), size: 4096, bytes: 4096 };
  return {
    manifest: volume,
    volumes: [volume],
    files,
    directories: Math.ceil(files / 9),
    links: 3,
    bytes,
    bytesSent: Math.round(bytes / 15),
    changed: 0,
    vanished: 0,
    unreadable: troubles.length,
    special: 0,
    troubles,
  };
}

function backup(node, label, spec, more) {
  return {
    id: uuid7(),
    nodeId: node.id,
    node: node.name,
    label,
    store: "server",
    spec,
    operation: uuid7(),
    createdBy: ACTOR,
    generation: 1,
    ...more,
  };
}

function seed(world) {
  const [first, second] = [...world.nodes.values()];
  const etc = { paths: ["/etc", "/srv"], exclude: ["*.tmp"] };
  const times = (seconds) => ({ timeCreated: before(seconds), timeEnded: before(seconds - 40) });
  const locked = [{ path: "/srv/vault/key", why: "permission denied" }];
  return [
    backup(first, "nightly", etc, {
      state: "complete",
      outcome: outcome(FILES, 3.1 * GIB, locked),
      ...times(9_000),
    }),
    backup(second, "nightly", etc, {
      state: "complete",
      outcome: outcome(1204, 1.2 * GIB),
      verdict: { time: before(4_000), problem: "volume 3 is not there" },
      ...times(95_400),
    }),
    backup(
      second,
      "",
      { paths: ["/var/lib/data"] },
      { state: "failed", error: "/var/lib/data is not there", ...times(180_000) },
    ),
  ];
}

function heldOf(world) {
  world.nodeBackups ??= new Map(seed(world).map((one) => [one.id, one]));
  world.operations ??= new Map();
  return world.nodeBackups;
}

function oneOf({ world, path }) {
  const held = heldOf(world);
  const found =
    held.get(path.backup) ?? [...held.values()].find(({ label }) => label === path.backup);
  if (!found)
    throw new Refusal(
      404,
      "not-found",
      `there is no backup \`${path.backup}\``,
      "list them with `hostler node backup ls`",
    );
  return found;
}

function begin(world, plan, name, id, done) {
  const step = { name, state: "waiting", message: "" };
  const operation = {
    id,
    plan,
    state: "pending",
    steps: [step],
    isCancelRequested: false,
    createdBy: ACTOR,
    generation: 1,
    timeCreated: now(),
    timeModified: now(),
  };
  world.operations.set(id, operation);
  later(world, BEGUN_MS, () => {
    operation.state = step.state = "running";
    step.message = "12 of 230 files";
  });
  later(world, DONE_MS, () => {
    operation.state = step.state = "succeeded";
    Object.assign(step, done());
    operation.timeEnded = now();
  });
  return structuredClone(operation);
}

function restored({ to, check }, { outcome }) {
  const below = { fresh: "/var/lib/hostler/agent/restores/0199e9a4", "in-place": "/" };
  const directory = below[to.where] ?? to.path;
  if (!check)
    return {
      message: `${outcome.files} files, 3.1GiB are back below ${directory}`,
      result: { directory, changes: [], troubles: [] },
    };
  const changes = [{ path: "/etc/hosts", why: "other content" }];
  return {
    message: `1 would be different below ${directory}; ${outcome.files - 1} are the same`,
    result: { directory, changes, troubles: [] },
  };
}

function fileOf(at) {
  const times = { timeModified: before(86_400 + at), uid: 0, gid: 0 };
  if (at === 0) return { path: "/etc", kind: "directory", mode: "755", ...times };
  if (at === 1)
    return { path: "/etc/mtab", kind: "link", target: "/proc/mounts", mode: "777", ...times };
  const path = `/etc/conf.d/part-${String(at).padStart(3, "0")}.conf`;
  return { path, kind: "file", size: 100 + at, digest: "6f0c".repeat(16), mode: "644", ...times };
}

const BACKUPS = "/api/v1/node-backups";
const ONE = `${BACKUPS}/(?<backup>[^/]+)`;

export const NODE_BACKUP_ROUTES = [
  [
    "GET",
    new RegExp(`^${BACKUPS}$`),
    "admin",
    ({ world, query }) => ({
      items: [...heldOf(world).values()]
        .filter(({ node }) => !query.get("node") || node === query.get("node"))
        .sort((a, b) => (a.timeCreated > b.timeCreated ? -1 : 1)),
    }),
  ],
  ["GET", new RegExp(`^${ONE}$`), "admin", oneOf],
  [
    "GET",
    new RegExp(`^${ONE}/files$`),
    "admin",
    (context) => {
      oneOf(context);
      const { query } = context;
      const below = query.get("path") ?? "";
      const from = Number(query.get("cursor")) || 0;
      const all = Array.from({ length: FILES }, (_, at) => fileOf(at));
      const found = all.filter(({ path }) => path === below || path.startsWith(`${below}/`));
      const end = from + (Number(query.get("limit")) || PAGE);
      return {
        items: found.slice(from, end),
        ...(end < found.length && { nextCursor: String(end) }),
      };
    },
  ],
  [
    "POST",
    /^\/api\/v1\/nodes\/(?<node>[^/]+)\/backups$/,
    "admin",
    ({ world, path, body }) => {
      const held = heldOf(world);
      const { label = "", store, paths, exclude } = body;
      const made = backup(
        find(world.nodes, path.node, "node"),
        label,
        { paths, exclude },
        {
          store,
          state: "waiting",
          timeCreated: now(),
        },
      );
      held.set(made.id, made);
      const plan = { kind: "node-backup", node: made.nodeId, backup: made.id, until: now() };
      begin(world, plan, "backup", made.operation, () => {
        const kept = { state: "complete", outcome: outcome(FILES, GIB), timeEnded: now() };
        Object.assign(made, kept);
        return { message: "230 files, 1GiB; 68MiB were sent" };
      });
      return made;
    },
  ],
  [
    "POST",
    new RegExp(`^${ONE}/verify$`),
    "admin",
    (context) => {
      const one = oneOf(context);
      const plan = { kind: "node-backup-verify", node: one.nodeId, backup: one.id };
      return begin(context.world, plan, "verify", uuid7(), () => {
        one.verdict = { time: now() };
        return { message: "everything is there and right" };
      });
    },
  ],
  [
    "POST",
    new RegExp(`^${ONE}/restore$`),
    "admin",
    (context) => {
      const one = oneOf(context);
      const { world, body } = context;
      if (body.check && body.to.where === "fresh")
        throw new Refusal(400, "malformed", "a fresh directory is empty", "name another place");
      const plan = { kind: "node-restore", node: one.nodeId, backup: one.id, spec: body };
      return begin(world, plan, "restore", uuid7(), () => restored(body, one));
    },
  ],
  [
    "DELETE",
    new RegExp(`^${ONE}$`),
    "admin",
    (context) => void heldOf(context.world).delete(oneOf(context).id),
  ],
  [
    "GET",
    /^\/api\/v1\/operations\/(?<operation>[^/]+)$/,
    "viewer",
    ({ world, path }) => find(world.operations ?? new Map(), path.operation, "operation"),
  ],
];
