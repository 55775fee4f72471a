// Watchers in the mock: made, enabled, disabled and removed; what nodes see stands still.

import { uuid7 } from "./mock-content.mjs";
import { tellEvent } from "./mock-events.mjs";
import { find, Refusal } from "./mock-world.mjs";

const now = () => new Date().toISOString();
const before = (seconds) => new Date(Date.now() - seconds * 1000).toISOString();

function on(node, state, seen, more = {}) {
  return { node, state, seen, lost: 0, timeTold: before(95), ...more };
}

function watcher(name, spec, summary, nodes, more = {}) {
  return {
    id: uuid7(),
    name,
    spec,
    summary,
    owner: "mira",
    isEnabled: true,
    nodes,
    generation: 1,
    timeCreated: before(86_400 * 9),
    timeModified: before(86_400 * 2),
    ...more,
  };
}

function seed(world) {
  const full = watcher(
    "full",
    {
      description: "room for the database",
      selector: { site: "barn" },
      watch: { disk: { path: "/srv", above: 85, for: "5m" } },
      cooldown: "10m",
    },
    "disk /srv above 85% for 5m",
    [
      on("stall-1", "looking", "61 %"),
      on("stall-2", "firing", "91 %"),
      on("stall-3", "trouble", "", { trouble: "there is no /srv", lost: 2 }),
    ],
  );
  const certs = watcher(
    "certs",
    { nodes: ["stall-1"], watch: { certificate: { path: "/etc/ssl/x.pem", within: "30d" } } },
    "certificate /etc/ssl/x.pem within 30d",
    [on("stall-1", "off", "", { timeTold: undefined })],
    { isEnabled: false },
  );
  tellEvent(world, {
    kind: "watcher.fired",
    object: objectOf(full),
    message: "stall-2: disk /srv is above 85%: 91 %",
    name: "stall-2",
  });
  return [certs, full];
}

function objectOf({ id, name }) {
  return { kind: "watcher", id, name };
}

function heldOf(world) {
  world.watcherRows ??= new Map(seed(world).map((one) => [one.id, one]));
  return world.watcherRows;
}

function view({ nodes, ...one }) {
  const count = (...states) => nodes.filter(({ state }) => states.includes(state)).length;
  return {
    ...one,
    nodes,
    looking: one.isEnabled ? nodes.length : 0,
    firing: count("firing"),
    trouble: count("trouble"),
  };
}

function oneOf({ world, path }) {
  if (path.project !== "default")
    throw new Refusal(404, "not-found", "there is no watcher here", "look in project default");
  return find(heldOf(world), path.watcher, "watcher");
}

function turn(context, isEnabled) {
  const one = oneOf(context);
  one.isEnabled = isEnabled;
  one.generation += 1;
  one.timeModified = now();
  for (const node of one.nodes) node.state = isEnabled ? "pending" : "off";
  const message = isEnabled ? "enabled" : "disabled";
  tellEvent(context.world, { kind: "watcher.changed", object: objectOf(one), message });
  return view(one);
}

function summaryOf(watch) {
  const [[kind, given]] = Object.entries(watch);
  const subject = given.path ?? given.unit ?? given.name ?? given.port ?? given.command ?? "";
  return `${kind} ${subject}`.trim();
}

function nodesFor(world, { nodes, selector }) {
  return [...world.nodes.values()]
    .filter(({ name }) => !nodes || nodes.includes(name))
    .filter(({ labels }) => Object.entries(selector ?? {}).every(([k, v]) => labels[k] === v))
    .map(({ name }) => on(name, "pending", "", { timeTold: undefined }));
}

const WATCHERS = "/api/v1/projects/(?<project>[^/]+)/watchers";
const ONE = `${WATCHERS}/(?<watcher>[^/]+)`;

export const WATCHER_ROUTES = [
  [
    "GET",
    new RegExp(`^${WATCHERS}$`),
    "viewer",
    ({ world, path }) => ({
      items:
        path.project === "default"
          ? [...heldOf(world).values()].map(view).sort((a, b) => (a.name < b.name ? -1 : 1))
          : [],
    }),
  ],
  ["GET", new RegExp(`^${ONE}$`), "viewer", (context) => view(oneOf(context))],
  [
    "PUT",
    new RegExp(`^${ONE}$`),
    "operator",
    ({ world, path, body, session }) => {
      const held = heldOf(world);
      if ([...held.values()].some(({ name }) => name === path.watcher))
        throw new Refusal(
          409,
          "already-exists",
          `there is a watcher \`${path.watcher}\` already`,
          "choose another name",
        );
      const times = { timeCreated: now(), timeModified: now(), owner: session.name };
      const nodes = nodesFor(world, body);
      const made = watcher(path.watcher, body, summaryOf(body.watch), nodes, times);
      held.set(made.id, made);
      tellEvent(world, { kind: "watcher.created", object: objectOf(made), message: "made" });
      return view(made);
    },
  ],
  [
    "DELETE",
    new RegExp(`^${ONE}$`),
    "operator",
    (context) => void heldOf(context.world).delete(oneOf(context).id),
  ],
  ["POST", new RegExp(`^${ONE}/enable$`), "operator", (context) => turn(context, true)],
  ["POST", new RegExp(`^${ONE}/disable$`), "operator", (context) => turn(context, false)],
];
