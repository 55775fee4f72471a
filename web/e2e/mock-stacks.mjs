// What the mock does with stacks: lists, history, drift, dependencies, locks, signals and hooks.

import { uuid7 } from "./mock-content.mjs";
import { ago, happen, HIDDEN, stand } from "./mock-stack-content.mjs";
import { PLAN_ROUTES } from "./mock-stack-plans.mjs";
import {
  begin,
  known,
  look,
  make,
  patch,
  refuse,
  resourceOf,
  unlocked,
  VALUE,
  within,
} from "./mock-stack-work.mjs";

export { beatStacks, seedStacks } from "./mock-stack-work.mjs";

function lockView({ view, hold, past }) {
  if (!hold && past.length === 0) return { isHeld: false };
  return {
    isHeld: Boolean(hold),
    lock: {
      id: view.id,
      name: `stack/${view.name}`,
      slots: 1,
      held: hold ? 1 : 0,
      waiting: 0,
      token: past.length + 1,
      holders: hold ? [hold] : [],
      queue: [],
      past,
      timeCreated: view.timeCreated,
      timeModified: ago(0),
    },
  };
}

function free(stack, end, forced) {
  const { id, by, holder, timeGranted } = stack.hold;
  stack.past.unshift({
    id,
    by,
    holder,
    token: stack.past.length + 1,
    end,
    timeGranted,
    timeEnded: ago(0),
    ...(forced && { forced }),
  });
  stack.hold = undefined;
}

function usesOf(world, stack) {
  const inside = (name) => world.stacks.find(({ view }) => view.name === name && !view.timeDeleted);
  const uses = stack.uses.map((one) => ({ ...one, isThere: Boolean(inside(one.stack)) }));
  const usedBy = world.stacks
    .filter((other) => !other.view.timeDeleted)
    .flatMap(({ view, uses: all }) =>
      all
        .filter((one) => one.stack === stack.view.name)
        .map(({ outputs }) => ({ stack: view.name, outputs, isThere: true })),
    );
  return { stack: stack.view.name, uses, usedBy };
}

function remove(context) {
  const stack = known(context);
  unlocked(stack, context);
  const { usedBy } = usesOf(context.world, stack);
  if (usedBy.length > 0 && context.query.get("force") !== "true")
    refuse(409, "conflict", `used by ${usedBy[0].stack}`, "delete that first, or use force");
  return begin(stack, "delete");
}

function events({ world, query, ...rest }) {
  const stack = known({ world, ...rest });
  const [resource, status, after] = ["resource", "status", "after"].map((key) => query.get(key));
  const all = within(world, stack, Number(query.get("depth") ?? 0))
    .flatMap((one) => one.events)
    .filter((event) => !resource || event.resource === resource)
    .filter((event) => !status || event.status === status)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const isNewest = query.get("newest") === "true";
  const ordered = isNewest ? all.toReversed() : all;
  const from = after ? ordered.findIndex(({ id }) => id === after) + 1 : 0;
  return { items: ordered.slice(from, from + 100) };
}

function list({ world, path, query }) {
  const [status, action, tag] = ["status", "action", "tag"].map((key) => query.get(key));
  const items = world.stacks
    .filter(({ project }) => project === path.project)
    .map(({ view }) => view)
    .filter(({ parent }) => !parent || query.get("nested") === "true")
    .filter(({ timeDeleted }) => !timeDeleted || query.get("deleted") === "true")
    .filter(({ standing }) => !status || standing.status === status)
    .filter(({ standing }) => !action || standing.action === action)
    .filter(({ options }) => !tag || options.tags?.includes(tag))
    .map((view) => ({ ...view, parameters: undefined, outputs: undefined, owner: undefined }));
  return { items: items.toReversed() };
}

const BASE = "\\/api\\/v1\\/projects\\/(?<project>[^/]+)";
const ONE = `${BASE}\\/stacks\\/(?<stack>[^/]+)`;
const RESOURCE = `${ONE}\\/resources\\/(?<resource>[^/]+)`;

const HANDLERS = [
  ["GET", `${BASE}\\/stacks`, "viewer", list],
  ["POST", `${BASE}\\/stacks`, "user", (context) => make(context, context.body)],
  ["GET", ONE, "viewer", (context) => known(context).view],
  [
    "PATCH",
    ONE,
    "user",
    (context) => {
      const stack = known(context);
      unlocked(stack, context);
      if (context.request.headers["if-match"] !== `"${stack.view.traversal}"`)
        refuse(412, "stale", "the stack was changed meanwhile", "look at it again");
      return patch(stack, context.body);
    },
  ],
  ["DELETE", ONE, "user", remove],
  ...["suspend", "resume", "check"].map((verb) => [
    "POST",
    `${ONE}\\/${verb}`,
    "user",
    (context) => {
      const stack = known(context);
      unlocked(stack, context);
      return begin(stack, verb);
    },
  ]),
  [
    "POST",
    `${ONE}\\/cancel`,
    "user",
    (context) => {
      const stack = known(context);
      for (const one of stack.resources) delete one.hook;
      if (context.body.rollback) return begin(stack, "rollback");
      stack.view.standing = stand(stack.view.standing.action, "failed", "cancelled");
      return stack.view;
    },
  ],
  ["GET", `${ONE}\\/events`, "viewer", events],
  [
    "GET",
    `${ONE}\\/definition`,
    "viewer",
    (context) => {
      const stack = known(context);
      const number = Number(context.query.get("revision") ?? 0);
      const found = stack.revisions.find((one) => one.number === number);
      return number ? found.definition : stack.definition;
    },
  ],
  [
    "GET",
    `${ONE}\\/resources`,
    "viewer",
    (context) => {
      const depth = Number(context.query.get("depth") ?? 0);
      const items = within(context.world, known(context), depth).flatMap((one) => one.resources);
      return { items: items.map((one) => ({ ...one, properties: undefined, isToDo: undefined })) };
    },
  ],
  ["GET", RESOURCE, "viewer", (context) => resourceOf(context).resource],
  [
    "POST",
    `${RESOURCE}\\/signal`,
    "user",
    (context) => {
      const { stack, resource } = resourceOf(context);
      happen(stack, resource, "signal", "complete", "Signal received");
      return { answer: { told: context.body.data ?? null } };
    },
  ],
  [
    "POST",
    `${RESOURCE}\\/mark`,
    "user",
    (context) => {
      const { resource } = resourceOf(context);
      const { unhealthy, reason = "" } = context.body;
      Object.assign(resource, {
        action: "check",
        status: unhealthy ? "failed" : "complete",
        reason,
      });
    },
  ],
  [
    "POST",
    `${RESOURCE}\\/hooks\\/(?<hook>[^/]+)\\/clear`,
    "user",
    (context) => {
      const { resource } = resourceOf(context);
      delete resource.hook;
    },
  ],
  [
    "GET",
    `${ONE}\\/hooks`,
    "viewer",
    (context) => ({
      items: within(context.world, known(context), 5)
        .flatMap(({ resources }) => resources)
        .filter(({ hook }) => hook)
        .map(({ stack, stackId, name, hook }) => ({ stack, stackId, resource: name, hook })),
    }),
  ],
  [
    "GET",
    `${ONE}\\/graph`,
    "viewer",
    (context) => {
      const { resources, edges } = known(context);
      return { nodes: resources, edges };
    },
  ],
  [
    "GET",
    `${ONE}\\/checklist`,
    "viewer",
    (context) => ({
      stack: known(context).view.name,
      isPassed: false,
      lines: [
        { check: "syntax", result: "passed", message: "the template is right" },
        { check: "existence", result: "failed", message: "0 of servers is not there" },
        { check: "disk", result: "skipped", message: "nothing needs any" },
      ],
    }),
  ],
  ["GET", `${ONE}\\/dependencies`, "viewer", (context) => usesOf(context.world, known(context))],
  [
    "GET",
    `${BASE}\\/stack-dependencies`,
    "viewer",
    ({ world, path }) => {
      const own = world.stacks.filter(
        ({ project, view }) => project === path.project && !view.parent && !view.timeDeleted,
      );
      const [first, then] = [own.filter(({ uses }) => uses.length === 0), own].map((some) =>
        some.map(({ view }) => view.name),
      );
      return {
        stacks: own.map((one) => usesOf(world, one)),
        order: [first, then.filter((name) => !first.includes(name))].filter((w) => w.length > 0),
      };
    },
  ],
  [
    "GET",
    `${ONE}\\/drift`,
    "viewer",
    (context) => {
      const { drift } = known(context);
      if (!drift) refuse(404, "not-found", "nobody has looked yet", "look now");
      return drift;
    },
  ],
  [
    "POST",
    `${ONE}\\/drift`,
    "user",
    (context) => {
      const stack = known(context);
      const items = stack.drifted ?? [];
      const of = (kind) => items.filter(({ drift }) => drift === kind).length;
      stack.drift = {
        isDrifted: items.some(({ drift }) => drift !== "in-sync"),
        isCurrent: true,
        looked: stack.resources.length,
        changed: of("configuration"),
        missing: of("missing"),
        unknown: 0,
        items,
        time: ago(0),
      };
      return stack.drift;
    },
  ],
  [
    "GET",
    `${ONE}\\/revisions`,
    "viewer",
    (context) => ({
      items: known(context).revisions.map((one) => ({ ...one, definition: undefined })),
    }),
  ],
  ["GET", `${ONE}\\/snapshots`, "viewer", (context) => ({ items: known(context).snapshots })],
  [
    "POST",
    `${ONE}\\/snapshots`,
    "user",
    (context) => {
      const stack = known(context);
      const made = {
        id: uuid7(),
        name: context.body.name,
        status: "in-progress",
        reason: "",
        createdBy: { kind: "user", name: context.session.name },
        timeCreated: ago(0),
      };
      stack.snapshots.unshift(made);
      begin(stack, "snapshot");
      return made;
    },
  ],
  [
    "DELETE",
    `${ONE}\\/snapshots\\/(?<snapshot>[^/]+)`,
    "user",
    (context) => {
      const stack = known(context);
      stack.snapshots = stack.snapshots.filter(({ id }) => id !== context.path.snapshot);
    },
  ],
  [
    "GET",
    `${ONE}\\/compare`,
    "viewer",
    ({ query }) => ({
      from: query.get("from"),
      to: query.get("to") ?? "now",
      resources: [
        { name: "0", path: ["servers"], kind: "server.yaml", change: "create" },
        {
          name: "balancer",
          kind: VALUE,
          change: "update",
          properties: [{ name: "value", before: "old", after: "new" }],
        },
      ],
      parameters: [{ name: "db_password", before: HIDDEN, after: HIDDEN, isSecret: true }],
      outputs: [],
    }),
  ],
  ["POST", `${ONE}\\/restore`, "user", (context) => begin(known(context), "restore")],
  ["GET", `${ONE}\\/lock`, "viewer", (context) => lockView(known(context))],
  [
    "PUT",
    `${ONE}\\/lock\\/holds\\/(?<hold>[^/]+)`,
    "user",
    (context) => {
      const { body, path, session } = context;
      const stack = known(context);
      const lock = `stack/${stack.view.name}`;
      if (stack.hold) return { outcome: "busy", lock, holders: [stack.hold] };
      stack.hold = {
        id: path.hold,
        by: session.name,
        holder: body.holder,
        ttl: body.ttl,
        token: stack.past.length + 1,
        timeAsked: ago(0),
        timeGranted: ago(0),
        timeRenewed: ago(0),
      };
      return { outcome: "held", lock, hold: stack.hold };
    },
  ],
  [
    "POST",
    `${ONE}\\/lock\\/holds\\/(?<hold>[^/]+)\\/renew`,
    "user",
    (context) => Object.assign(known(context).hold, { timeRenewed: ago(0) }),
  ],
  ["DELETE", `${ONE}\\/lock`, "user", (context) => free(known(context), "released")],
  [
    "POST",
    `${ONE}\\/lock\\/force-release`,
    "operator",
    (context) => {
      const stack = known(context);
      free(stack, "forced", { by: context.session.name, reason: context.body.reason });
      return lockView(stack).lock;
    },
  ],
  [
    "POST",
    `${BASE}\\/stack-template-check`,
    "viewer",
    ({ body }) => look(body.form, body.needsValues).view,
  ],
  ...PLAN_ROUTES,
];

export const STACK_ROUTES = HANDLERS.map(([method, pattern, need, handler]) => [
  method,
  new RegExp(`^${pattern}$`),
  need,
  (context) => {
    const parts = Object.entries(context.path);
    const path = Object.fromEntries(parts.map(([key, one]) => [key, decodeURIComponent(one)]));
    return handler({ ...context, path });
  },
]);
