// What happened in the mock: a past of its own, and something more with every beat.

import { uuid7 } from "./mock-content.mjs";
import { announce, listOrWatch, Refusal } from "./mock-world.mjs";

const SEEDED = 140;
const PAGE = 100;
const TASK = { kind: "task", id: uuid7(), name: "nightly-index" };
const NODE = { kind: "node", id: uuid7(), name: "stall-2" };
const HOOK = { kind: "hook", id: uuid7(), name: "tell-ops" };
const EXECUTION = uuid7();
const REQUEST = "request";
const requests = [];

const EXIT = { state: "failed", exitCode: 3, exitReason: "exited", node: "stall-2", attempts: 1 };
const KINDS = [
  ["task.created", TASK, "submitted by mira", { payload: { state: "pending" }, cause: REQUEST }],
  ["task.assigned", TASK, "given to stall-2", { actor: "scheduler", cause: REQUEST }],
  ["task.started", TASK, "runs on stall-2", { actor: "stall-2", cause: REQUEST }],
  ["task.failed", TASK, "exit code 3", { actor: "stall-2", payload: EXIT, cause: REQUEST }],
  ["node.stale", NODE, "not heard of for 20 s", { payload: { state: "stale" } }],
  ["node.online", NODE, "its agent connected", { payload: { state: "online" } }],
  [
    "execution.succeeded",
    { kind: "execution", id: EXECUTION, name: "release" },
    "7 steps in 4 m",
    { cause: `execution/${EXECUTION}` },
  ],
  ["hook.dead-letter", HOOK, "given up after 10 tries", { cause: `hook/${HOOK.id}/1003` }],
];

function eventsOf(world) {
  if (!world.events) {
    world.events = [];
    for (let at = SEEDED; at > 0; at--) add(world, Date.now() - at * 41_000);
  }
  return world.events;
}

function add(world, time) {
  const { events } = world;
  const [kind, object, message, { actor = "mira", payload, cause } = {}] =
    KINDS[events.length % KINDS.length];
  if (events.length % KINDS.length === 0) requests.push(uuid7());
  const isGlobal = object.kind === "node";
  const event = {
    sequence: 1000 + events.length,
    kind,
    time: new Date(time).toISOString(),
    ...(!isGlobal && { project: world.projects[0].id }),
    object,
    actor: { kind: actor === "mira" ? "user" : "system", name: actor },
    message,
    ...(payload && { payload }),
    ...(cause && { correlation: cause === REQUEST ? requests.at(-1) : cause }),
  };
  events.push(event);
  return event;
}

/** Something that happened elsewhere in the mock. */
export function tellEvent(world, { kind, object, message, name = "mira" }) {
  const event = {
    sequence: 1000 + eventsOf(world).length,
    kind,
    time: new Date().toISOString(),
    project: world.projects[0].id,
    object,
    actor: { kind: "user", name },
    message,
  };
  world.events.push(event);
  announce(world, "events", event);
}

export function beatEvents(world) {
  announce(world, "events", add(world, (eventsOf(world), Date.now())));
}

/** The mock understands `PATH == VALUE` and nothing else. */
function holds(text) {
  if (!text) return () => true;
  const [, path, value] = /^\s*([\w.]+)\s*==\s*("[^"]*"|\d+)\s*$/.exec(text) ?? [];
  if (path === undefined) {
    const detail = "line 1, column 6: there is no such operator";
    const shown = `${detail}\n  ${text}\n       ^\n  hint: ==, !=, <, >, contains`;
    throw new Refusal(400, "malformed", "the filter cannot be read", "mend it where the mark is", [
      { pointer: "/query/filter", detail: shown },
    ]);
  }
  const wanted = JSON.parse(value);
  return (event) => path.split(".").reduce((at, key) => at?.[key], event) === wanted;
}

export const EVENT_ROUTES = [
  [
    "GET",
    /^\/api\/v1\/events$/,
    "viewer",
    (context) => {
      const { world, query } = context;
      const all = eventsOf(world);
      const fits = holds(query.get("filter"));
      if (query.get("watch") === "true") return listOrWatch(context, "events", []);
      const project = world.projects.find(({ name }) => name === query.get("project"));
      const is = (key, value) => !query.get(key) || query.get(key) === value;
      const before = Number(query.get("cursor")) || Infinity;
      const found = all
        .filter(({ sequence }) => sequence < before)
        .filter((event) => !query.get("project") || event.project === project?.id)
        .filter(({ kind, object }) => is("kind", kind) && is("object", object.kind))
        .filter(({ object }) => is("id", object.id))
        .filter(fits)
        .reverse();
      const items = found.slice(0, Number(query.get("limit")) || PAGE);
      return {
        items,
        watchCursor: String(world.sequence),
        ...(items.length < found.length && { nextCursor: String(items.at(-1).sequence) }),
      };
    },
  ],
];
