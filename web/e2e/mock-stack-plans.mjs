// Plans of changes to stacks in the mock.

import { uuid7 } from "./mock-content.mjs";
import { ago, HIDDEN } from "./mock-stack-content.mjs";
import { begin, known, look, make, patch, refuse, unlocked, VALUE } from "./mock-stack-work.mjs";

const HOUR_MS = 3_600_000;

function changesOf(action, stack, body) {
  const values = Object.entries(body.form?.parameters ?? {}).map(([name, after]) => {
    const before = stack?.view.parameters[name];
    return { name, before, after: before === HIDDEN ? HIDDEN : after, isSecret: before === HIDDEN };
  });
  if (!stack)
    return {
      action,
      resources: look(body.form, true).resources.map((name) => ({
        name,
        kind: VALUE,
        change: "create",
        properties: [{ name: "value", isUnknown: true }],
      })),
      parameters: values,
    };
  const change = action === "delete" ? "delete" : "unchanged";
  const resources = stack.resources.map(({ name, type: kind }) => ({ name, kind, change }));
  if (action !== "delete" && resources.length > 0)
    Object.assign(resources.at(-1), {
      change: "replace",
      properties: [
        { name: "count", before: 1, after: 2, replaces: true },
        { name: "token", before: "t0p", after: "s3cret", isSecret: true },
      ],
    });
  return { action, resources, parameters: values, warnings: ["network: it is used by others"] };
}

function plan(context) {
  const { world, body, session, path } = context;
  const [[intent, asked]] = Object.entries(body);
  const stack = intent === "create" ? undefined : known(context, asked.stack);
  const action = { create: "create", remove: "delete", restore: "restore" }[intent] ?? "update";
  const made = {
    id: uuid7(),
    project: path.project,
    stack: stack?.view.name ?? asked.name,
    stackId: stack?.view.id ?? uuid7(),
    base: stack?.view.traversal ?? 0,
    digest: "0".repeat(64),
    changes: changesOf(action, stack, asked),
    createdBy: { kind: "user", name: session.name },
    timeCreated: ago(0),
    timeExpires: ago(-HOUR_MS),
    carryOut: (now) => {
      if (intent === "create") return make(now, asked);
      if (intent === "restore") return begin(stack, "restore");
      if (intent === "fix") stack.drifted = [];
      return intent === "remove" ? begin(stack, "delete") : patch(stack, asked);
    },
  };
  world.stackPlans.unshift(made);
  return planView(made);
}

const planView = (made) => ({ ...made, project: undefined, carryOut: undefined });

function planOf({ world, path }) {
  const found = world.stackPlans.find(({ id }) => id === path.plan);
  if (!found) refuse(404, "not-found", `there is no plan \`${path.plan}\``, "make another one");
  return found;
}

function applyPlan(context) {
  const made = planOf(context);
  const stack = context.world.stacks.find(({ view }) => view.id === made.stackId);
  if (stack) unlocked(stack, context);
  if (made.timeUsed) refuse(409, "conflict", "the plan was applied before", "make another one");
  if (stack && stack.view.traversal !== made.base)
    refuse(412, "stale", "the stack has changed since the plan was made", "make another plan");
  made.timeUsed = ago(0);
  return made.carryOut(context);
}

const BASE = "\\/api\\/v1\\/projects\\/(?<project>[^/]+)";
const PLAN = `${BASE}\\/stack-plans\\/(?<plan>[^/]+)`;

export const PLAN_ROUTES = [
  [
    "GET",
    `${BASE}\\/stack-plans`,
    "user",
    ({ world, path, query }) => ({
      items: world.stackPlans
        .filter(({ project }) => project === path.project)
        .filter(({ stack, stackId }) => [stack, stackId].includes(query.get("stack")))
        .map(planView),
    }),
  ],
  ["POST", `${BASE}\\/stack-plans`, "user", plan],
  ["GET", PLAN, "user", (context) => planView(planOf(context))],
  [
    "DELETE",
    PLAN,
    "user",
    (context) => {
      const made = planOf(context);
      context.world.stackPlans = context.world.stackPlans.filter((one) => one !== made);
    },
  ],
  ["POST", `${PLAN}\\/apply`, "user", applyPlan],
];
