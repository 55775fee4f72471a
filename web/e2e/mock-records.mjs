// The mock's secrets and its audit trail.

import { createHash } from "node:crypto";

import { uuid7 } from "./mock-content.mjs";
import { Refusal } from "./mock-world.mjs";

const now = () => new Date().toISOString();
const SEEDED = 250;
const PAGE = 100;
const digest = (text) => createHash("sha256").update(text).digest("hex");

function recordsOf(world) {
  if (!world.records) {
    world.records = { secrets: new Map(), audit: [], anchors: [] };
    for (let at = 1; at <= SEEDED; at++)
      note(world, at % 2 ? "admin" : "mira", "task.create", { kind: "task", name: `job-${at}` });
  }
  return world.records;
}

/** Writes an entry of the audit trail. */
function note(world, actor, action, { kind, name }, detail = {}) {
  const { audit } = recordsOf(world);
  const hashPrevious = audit.at(-1)?.hash ?? "0".repeat(64);
  const entry = {
    sequence: audit.length + 1,
    time: now(),
    actor: { kind: "user", name: actor },
    action,
    object: { kind, id: uuid7(), name },
    requestId: uuid7(),
    source: "127.0.0.1",
    detail,
    hashPrevious,
  };
  audit.push({ ...entry, hash: digest(JSON.stringify(entry)) });
}

function keyOf({ path, query }) {
  return `${path.project}/${query.get("environment") ?? "default"}/${path.secret}`;
}

function secretOf(context) {
  const found = recordsOf(context.world).secrets.get(keyOf(context));
  if (!found)
    throw new Refusal(
      404,
      "not-found",
      `there is no secret \`${context.path.secret}\``,
      "list them with `hostler secret ls`",
    );
  return found;
}

function view({ id, environment, name, createdBy, versions, timeCreated, timeModified }) {
  const reference = environment === "default" ? name : `${environment}/${name}`;
  const version = versions.findLast(({ isDestroyed }) => !isDestroyed)?.version;
  const times = { timeCreated, timeModified };
  return { id, environment, name, reference, source: "kept", version, createdBy, ...times };
}

function setValue(context, value) {
  const { world, session, path, query } = context;
  const { secrets } = recordsOf(world);
  const key = keyOf(context);
  if (!secrets.has(key) && query.get("mustExist") === "true") secretOf(context);
  const secret = secrets.get(key) ?? {
    id: uuid7(),
    environment: query.get("environment") ?? "default",
    name: path.secret,
    project: path.project,
    createdBy: session.name,
    versions: [],
    timeCreated: now(),
  };
  secret.versions.push({
    version: secret.versions.length + 1,
    value,
    isDestroyed: false,
    createdBy: { kind: "user", name: session.name },
    timeCreated: now(),
  });
  secret.timeModified = now();
  secrets.set(key, secret);
  note(world, session.name, "secret.set", { kind: "secret", name: path.secret });
  return view(secret);
}

const BASE = "/api/v1/projects/(?<project>[^/]+)/secrets";
const one = (rest = "") => new RegExp(`^${BASE}/(?<secret>[^/]+)${rest}$`);

const SECRET_ROUTES = [
  [
    "GET",
    new RegExp(`^${BASE}$`),
    "viewer",
    ({ world, path }) => ({
      items: [...recordsOf(world).secrets.values()]
        .filter(({ project }) => project === path.project)
        .map(view),
    }),
  ],
  ["GET", one(), "viewer", (context) => view(secretOf(context))],
  ["PUT", one(), "user", (context) => setValue(context, context.raw)],
  ["POST", one("/generate"), "user", (context) => setValue(context, Buffer.from(uuid7()))],
  [
    "GET",
    one("/value"),
    "operator",
    (context) => {
      const { world, session, path, query } = context;
      const { environment, name, versions } = secretOf(context);
      const asked = Number(query.get("version")) || versions.at(-1).version;
      const { version, value } = versions.find((held) => held.version === asked);
      note(world, session.name, "secret.read", { kind: "secret", name: path.secret }, { version });
      return { environment, name, version, value: value.toString("base64") };
    },
  ],
  [
    "GET",
    one("/versions"),
    "viewer",
    (context) => {
      const secret = secretOf(context);
      const items = secret.versions.map(({ value, ...version }) => ({
        ...version,
        size: value.length,
        isCurrent: version.version === view(secret).version,
      }));
      return { items: items.reverse() };
    },
  ],
  [
    "DELETE",
    one("/versions/(?<version>\\d+)"),
    "user",
    (context) => {
      const secret = secretOf(context);
      const version = Number(context.path.version);
      secret.versions.find((held) => held.version === version).isDestroyed = true;
      secret.timeModified = now();
      return view(secret);
    },
  ],
  [
    "DELETE",
    one(),
    "user",
    (context) => {
      secretOf(context);
      recordsOf(context.world).secrets.delete(keyOf(context));
    },
  ],
];

function isMeant(entry, query) {
  const is = (key, value) => !query.get(key) || query.get(key) === value;
  return (
    is("actor", entry.actor.name) &&
    is("action", entry.action) &&
    is("kind", entry.object.kind) &&
    (is("object", entry.object.name) || is("object", entry.object.id)) &&
    (!query.get("since") || entry.time >= query.get("since")) &&
    (!query.get("until") || entry.time < query.get("until")) &&
    JSON.stringify(entry)
      .toLowerCase()
      .includes((query.get("text") ?? "").toLowerCase())
  );
}

function page(entries, query) {
  const from = Number(query.get("cursor") ?? 0);
  const to = from + (Number(query.get("limit")) || PAGE);
  return {
    items: entries.slice(from, to),
    ...(to < entries.length && { nextCursor: String(to) }),
  };
}

const AUDIT_ROUTES = [
  [
    "GET",
    /^\/api\/v1\/audit$/,
    "admin",
    ({ world, query }) =>
      page(
        recordsOf(world)
          .audit.filter((entry) => isMeant(entry, query))
          .reverse(),
        query,
      ),
  ],
  [
    "GET",
    /^\/api\/v1\/audit\/export$/,
    "admin",
    ({ world, query }) =>
      page(
        recordsOf(world).audit.filter(({ time }) => time >= (query.get("since") ?? "")),
        query,
      ),
  ],
  [
    "GET",
    /^\/api\/v1\/audit\/verify$/,
    "admin",
    ({ world }) => {
      const { audit, anchors } = recordsOf(world);
      const wrong = audit.find(({ hash, ...entry }) => digest(JSON.stringify(entry)) !== hash);
      return {
        isIntact: wrong === undefined,
        entries: audit.length,
        anchors: anchors.length,
        head: audit.at(-1).hash,
        ...(wrong && { firstBad: wrong.sequence, problem: "an entry was changed" }),
      };
    },
  ],
  [
    "GET",
    /^\/api\/v1\/audit\/anchors$/,
    "admin",
    ({ world }) => ({ items: recordsOf(world).anchors.toReversed() }),
  ],
  [
    "POST",
    /^\/api\/v1\/audit\/anchors$/,
    "admin",
    ({ world }) => {
      const { audit, anchors } = recordsOf(world);
      const { sequence, hash } = audit.at(-1);
      const anchor = { sequence, hash, time: now(), authority: "mock", signature: "mock" };
      anchors.push(anchor);
      return anchor;
    },
  ],
  [
    "GET",
    /^\/api\/v1\/audit\/sinks$/,
    "admin",
    () => ({
      items: [{ name: "archive", to: "https://logs.example.org/audit", sequence: 240, lag: 10 }],
    }),
  ],
];

export const RECORD_ROUTES = [...SECRET_ROUTES, ...AUDIT_ROUTES];
