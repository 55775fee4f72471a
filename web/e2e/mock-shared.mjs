// What programs share in the mock: state by key, and locks.

import { uuid7 } from "./mock-content.mjs";
import { announce, listOrWatch, Refusal } from "./mock-world.mjs";

const now = () => new Date().toISOString();
const before = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();
const after = (seconds) => new Date(Date.now() + seconds * 1000).toISOString();
const CONFIG = { replicas: 3, drain: "20s", hosts: ["web-1", "web-2", "web-3"] };

const SEEDED = [
  ["default", "leader", Buffer.from("web-1"), 30],
  ["deploys", "web/config", Buffer.from(JSON.stringify(CONFIG))],
  ["deploys", "web/version", Buffer.from("2.14.1")],
  ["deploys", "worker/version", Buffer.from("1.8.0")],
  ["deploys", "logo.bin", Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 255])],
];

function sharedOf(world) {
  if (!world.shared) {
    world.shared = { entries: new Map(), changes: [], revision: 4000, locks: seedLocks() };
    for (const [namespace, key, value, ttl] of SEEDED)
      put(world, { project: "default", namespace }, key, value, "mira", ttl && after(ttl));
  }
  return world.shared;
}

const idOf = ({ project, namespace }, key) => `${project}/${namespace}/${key}`;

function record(world, place, kind, entry, name, value) {
  const { project, namespace } = place;
  const { key, revision, createRevision, version, timeExpires } = entry;
  const change = {
    namespace,
    key,
    kind,
    revision,
    createRevision,
    version,
    owner: { kind: "user", name },
    time: now(),
    ...(timeExpires && { timeExpires }),
    ...(value && valueOf(value)),
  };
  world.shared.changes.push({ project, change });
  announce(world, `state:${project}:${namespace}`, change);
}

function put(world, place, key, value, name, timeExpires) {
  const { shared } = world;
  const held = shared.entries.get(idOf(place, key));
  const revision = ++shared.revision;
  const entry = {
    ...place,
    key,
    value,
    revision,
    createRevision: held?.createRevision ?? revision,
    version: (held?.version ?? 0) + 1,
    owner: { kind: "user", name },
    timeCreated: held?.timeCreated ?? now(),
    timeModified: now(),
    timeExpires,
  };
  shared.entries.set(idOf(place, key), entry);
  record(world, place, "put", entry, name, value);
  return entry;
}

function valueOf(value) {
  const text = value.toString("utf8");
  return Buffer.from(text).equals(value)
    ? { value: text, encoding: "text" }
    : { value: value.toString("base64"), encoding: "base64" };
}

function view({ value, ...entry }, isWhole) {
  return { ...entry, size: value.length, ...(isWhole && valueOf(value)) };
}

function entriesOf({ world, path, query }) {
  return [...sharedOf(world).entries.values()]
    .filter(({ project }) => project === path.project)
    .filter(({ namespace }) => !path.namespace || namespace === path.namespace)
    .filter(({ key }) => key.startsWith(query.get("prefix") ?? ""))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

function entryOf({ world, path, query }) {
  const found = sharedOf(world).entries.get(idOf(path, query.get("key")));
  if (!found)
    throw new Refusal(
      404,
      "not-found",
      `there is no entry \`${query.get("key")}\``,
      "list them with `hostler state ls`",
    );
  return found;
}

function checkSeen(held, query) {
  const seen = query.get("ifRevision");
  if ((seen && held?.revision !== Number(seen)) || (query.get("ifAbsent") === "true" && held))
    throw new Refusal(
      412,
      "stale",
      "the entry was changed meanwhile",
      "read it again, and decide anew",
    );
}

const STATE = "/api/v1/projects/(?<project>[^/]+)/state";
const inside = (rest) => new RegExp(`^${STATE}/(?<namespace>[^/]+)${rest}$`);

const STATE_ROUTES = [
  [
    "GET",
    new RegExp(`^${STATE}$`),
    "viewer",
    (context) => {
      const entries = entriesOf(context);
      const names = [...new Set(entries.map(({ namespace }) => namespace))].sort();
      return {
        items: names.map((name) => {
          const own = entries.filter(({ namespace }) => namespace === name);
          const bytes = own.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
          return { name, entries: own.length, bytes };
        }),
      };
    },
  ],
  [
    "GET",
    inside(""),
    "viewer",
    (context) => {
      const { project, namespace } = context.path;
      const items = entriesOf(context).map((entry) => view(entry));
      return listOrWatch(context, `state:${project}:${namespace}`, items);
    },
  ],
  ["GET", inside("/entry"), "viewer", (context) => view(entryOf(context), true)],
  [
    "PUT",
    inside("/value"),
    "user",
    ({ world, path, query, raw, session }) => {
      const key = query.get("key");
      checkSeen(sharedOf(world).entries.get(idOf(path, key)), query);
      const ttl = Number.parseInt(query.get("ttl") ?? "", 10);
      return view(put(world, { ...path }, key, raw, session.name, ttl ? after(ttl) : undefined));
    },
  ],
  [
    "DELETE",
    inside("/entry"),
    "user",
    (context) => {
      const { world, path, query, session } = context;
      const entry = entryOf(context);
      checkSeen(entry, query);
      world.shared.entries.delete(idOf(path, entry.key));
      const revision = ++world.shared.revision;
      record(world, path, "deleted", { ...entry, revision }, session.name);
    },
  ],
  [
    "GET",
    inside("/history"),
    "viewer",
    ({ world, path, query }) => ({
      items: sharedOf(world)
        .changes.filter(({ project }) => project === path.project)
        .map(({ change }) => change)
        .filter(({ namespace, key }) => namespace === path.namespace && key === query.get("key"))
        .reverse(),
    }),
  ],
];

function hold(token, by, host, why, more = {}) {
  const holder = { host, pid: 4000 + token, command: "./deploy.sh", why };
  return { id: uuid7(), token, by, holder, ttl: "30s", timeRenewed: before(4), ...more };
}

function lock(name, slots, holders, queue, past) {
  const times = { timeCreated: before(86_400 * 9), timeModified: before(40) };
  return { id: uuid7(), name, slots, token: 41, holders, queue, past, ...times };
}

const granted = (seconds) => ({ timeAsked: before(seconds + 3), timeGranted: before(seconds) });
const waiting = { token: undefined, timeAsked: before(70) };
const ended = (end, from, to, more) => ({
  end,
  timeGranted: before(from),
  timeEnded: before(to),
  ...more,
});

function seedLocks() {
  return [
    lock(
      "db/migrate",
      1,
      [hold(41, "mira", "web-1", "release 42", granted(312))],
      [hold(42, "ci", "stall-2", "release 43", waiting), hold(43, "ada", "lab-7", "", waiting)],
      [
        hold(40, "ci", "stall-2", "release 41", ended("released", 4000, 3700)),
        hold(39, "ada", "lab-7", "try it out", ended("expired", 9000, 8100)),
        hold(
          38,
          "mira",
          "web-1",
          "release 40",
          ended("forced", 99_000, 90_000, {
            forced: { by: "admin", reason: "web-1 burnt down" },
          }),
        ),
      ],
    ),
    lock(
      "gpu-pool",
      4,
      [
        hold(40, "mira", "farrier", "train classifier", granted(8100)),
        hold(41, "ada", "farrier", "", granted(95)),
      ],
      [],
      [],
    ),
    lock("nightly", 1, [], [], [hold(41, "ci", "stall-3", "", ended("released", 70_000, 61_000))]),
  ];
}

function lockView({ queue, past, ...one }, isWhole) {
  const counts = { held: one.holders.length, waiting: queue.length };
  return { ...one, ...counts, ...(isWhole && { queue, past }) };
}

function lockOf({ world, path }) {
  const name = decodeURIComponent(path.lock);
  const found = sharedOf(world).locks.find((one) => one.name === name);
  if (!found || path.project !== "default")
    throw new Refusal(
      404,
      "not-found",
      `there is no lock \`${name}\``,
      "list them with `hostler lock ls --all`",
    );
  return found;
}

const LOCKS = "/api/v1/projects/(?<project>[^/]+)/locks";

const LOCK_ROUTES = [
  [
    "GET",
    new RegExp(`^${LOCKS}$`),
    "viewer",
    ({ world, path, query }) => ({
      items: sharedOf(world)
        .locks.filter(() => path.project === "default")
        .map((one) => lockView(one))
        .filter(({ held, waiting }) => query.get("all") === "true" || held + waiting > 0),
    }),
  ],
  [
    "GET",
    new RegExp(`^${LOCKS}/(?<lock>[^/]+)$`),
    "viewer",
    (context) => lockView(lockOf(context), true),
  ],
  [
    "POST",
    new RegExp(`^${LOCKS}/(?<lock>[^/]+)/force-release$`),
    "operator",
    (context) => {
      const { body, session } = context;
      const one = lockOf(context);
      const taken = one.holders.filter(({ id }) => !body.hold || id === body.hold);
      if (taken.length === 0)
        throw new Refusal(409, "conflict", "nobody holds it", "look again: it was released");
      one.holders = one.holders.filter((held) => !taken.includes(held));
      const forced = { by: session.name, reason: body.reason };
      one.past.unshift(
        ...taken.map((held) => ({ ...held, end: "forced", forced, timeEnded: now() })),
      );
      while (one.holders.length < one.slots && one.queue.length > 0)
        one.holders.push({ ...one.queue.shift(), token: ++one.token, timeGranted: now() });
      return lockView(one, true);
    },
  ],
];

export const SHARED_ROUTES = [...STATE_ROUTES, ...LOCK_ROUTES];
