// What happens to stacks in the mock: a resource at a time. It reads only as much of a template as it needs
// for a form.

import { Refusal } from "./mock-world.mjs";
import {
  ago,
  happen,
  HIDDEN,
  keep,
  makeResource,
  makeStack,
  stackContent,
  stand,
} from "./mock-stack-content.mjs";

export const VALUE = "OS::Heat::Value";
const CFN = { string: "String", number: "Number", boolean: "Boolean", json: "Json" };

export function seedStacks(world, isFresh) {
  world.stacks = isFresh ? [] : stackContent();
  world.stackPlans = [];
}

/** One resource of every stack that is under way. */
export function beatStacks(world) {
  for (const stack of world.stacks)
    if (stack.view.standing.status === "in-progress" && !stack.view.parent) advance(world, stack);
}

function advance(world, stack) {
  const { action } = stack.view.standing;
  const busy = stack.resources.find(({ status, hook }) => status === "in-progress" && !hook);
  if (busy) {
    Object.assign(busy, { status: "complete", reason: "state changed" });
    delete busy.underWay;
    if (action === "delete") stack.resources = stack.resources.filter((one) => one !== busy);
    happen(stack, busy, busy.action, "complete", "state changed");
  }
  if (stack.resources.some(({ hook }) => hook)) return;
  const next = stack.resources.find((one) => one.action === "init" || one.isToDo);
  if (next) {
    delete next.isToDo;
    Object.assign(next, { action: next.action === "init" ? "create" : action });
    Object.assign(next, { status: "in-progress", underWay: "update", timeModified: ago(0) });
    happen(stack, next, next.action, "in-progress", "state changed");
    return;
  }
  if (stack.resources.some(({ status }) => status === "in-progress")) return;
  stack.view.standing = stand(action, "complete");
  happen(stack, undefined, action, "complete", stack.view.standing.reason);
  for (const one of stack.snapshots) one.status = "complete";
  if (action === "delete") stack.view.timeDeleted = ago(0);
  if (["create", "update", "restore"].includes(action)) keep(stack, action);
}

export function begin(stack, action) {
  stack.view.standing = stand(action, "in-progress");
  stack.view.traversal += 1;
  stack.view.timeBegun = ago(0);
  if (action !== "create") stack.view.timeUpdated = ago(0);
  for (const one of stack.resources)
    if (one.action !== "init" && action !== "snapshot") one.isToDo = true;
  happen(stack, undefined, action, "in-progress", stack.view.standing.reason);
  return stack.view;
}

export function refuse(status, code, detail, hint, errors) {
  throw new Refusal(status, code, detail, hint, errors);
}

export function known({ world, path }, key = path.stack) {
  const own = world.stacks.filter(({ project }) => project === path.project);
  const found =
    own.find(({ view }) => view.id === key) ??
    own.find(({ view }) => view.name === key && !view.timeDeleted);
  if (!found) refuse(404, "not-found", `there is no stack \`${key}\``, "list them");
  return found;
}

export function resourceOf(context) {
  const stack = known(context);
  const found = stack.resources.find(({ name }) => name === context.path.resource);
  if (!found) refuse(404, "not-found", `there is no resource \`${context.path.resource}\``, "list");
  return { stack, resource: found };
}

/** A stack and those below it, as deep as is asked for. */
export function within(world, stack, depth) {
  const below = stack.resources.flatMap(({ child }) =>
    child && depth > 0
      ? within(
          world,
          world.stacks.find(({ view }) => view.id === child),
          depth - 1,
        )
      : [],
  );
  return [stack, ...below];
}

export function unlocked({ hold, view }, { session }) {
  if (hold && hold.by !== session.name)
    refuse(409, "conflict", `stack ${view.name} is locked by ${hold.by}`, "ask who holds it");
}

const indent = (line) => /^ */.exec(line)[0].length;

/** The names in a section, each with the lines below it. */
function section(text, name) {
  const lines = text.split("\n");
  const from = lines.findIndex((line) => line.startsWith(`${name}:`));
  const found = new Map();
  let last;
  for (const line of from < 0 ? [] : lines.slice(from + 1)) {
    if (line.trim() === "") continue;
    if (indent(line) === 0) break;
    const [, key, value] = /^ *([\w-]+): *(.*)$/.exec(line) ?? [];
    if (indent(line) === 2) found.set((last = key), new Map());
    else if (last && key) found.get(last).set(key, value.replace(/^"|"$/g, ""));
  }
  return found;
}

export function look(form, needsValues = false) {
  const text = form.template ?? "";
  const at = text.split("\n").findIndex((line) => line.includes("mistake"));
  if (at >= 0) {
    const line = text.split("\n")[at];
    const detail = `template:${at + 1}:3: nobody knows \`mistake\`\n    ${line}\n    ^`;
    refuse(422, "invalid", detail, "correct it; nothing was done", [
      { pointer: "/form/template", detail },
    ]);
  }
  const parameters = [...section(text, "parameters")].map(([name, says]) => [
    name,
    {
      Type: CFN[says.get("type")] ?? "String",
      Description: says.get("description") ?? "",
      NoEcho: says.get("hidden") ?? "false",
      Label: says.get("label") ?? name,
      ...(says.has("default") && { Default: says.get("default") }),
    },
  ]);
  const missing = parameters.filter(
    ([name, schema]) => needsValues && !("Default" in schema) && !(name in (form.parameters ?? {})),
  );
  if (missing.length > 0)
    refuse(
      422,
      "invalid",
      "the request is not valid",
      "correct what is named",
      missing.map(([name]) => ({
        pointer: `/form/parameters/${name}`,
        detail: `The Parameter (${name}) was not provided.`,
      })),
    );
  const resources = [...section(text, "resources").keys()];
  return {
    resources,
    view: {
      resources: resources.length,
      summary: {
        Description: "",
        Parameters: Object.fromEntries(parameters),
        ...(text.includes("parameter_groups") && {
          ParameterGroups: [
            { label: "Size", description: "How much of it", parameters: ["replicas"] },
          ],
        }),
      },
      ...(text.includes("odd") && { warnings: ["template:2:1: odd is never used"] }),
    },
    hidden: new Set(parameters.filter(([, { NoEcho }]) => NoEcho === "true").map(([n]) => n)),
  };
}

export function make({ world, path, session }, { name, form, options = {} }) {
  if (world.stacks.some(({ view }) => view.name === name && !view.timeDeleted))
    refuse(409, "already-exists", `The Stack (${name}) already exists.`, "choose another name");
  const { resources, hidden } = look(form, true);
  const parameters = Object.fromEntries(
    Object.entries(form.parameters ?? {}).map(([key, value]) => [
      key,
      hidden.has(key) ? HIDDEN : value,
    ]),
  );
  const stack = makeStack(path.project, name, stand("create", "in-progress"), {
    options,
    parameters,
    owner: session.name,
    timeCreated: ago(0),
    timeBegun: ago(0),
    definition: { template: form.template, environment: {} },
  });
  for (const one of resources)
    makeResource(stack, one, VALUE, { action: "init", physical: undefined, reason: "" });
  happen(stack, undefined, "create", "in-progress", "Stack CREATE started");
  world.stacks.push(stack);
  return stack.view;
}

export function patch(stack, { form = {}, options = {}, clearParameters = [] }) {
  if (form.template) {
    look(form);
    stack.definition = { ...stack.definition, template: form.template };
  }
  Object.assign(stack.view.options, options);
  for (const [key, value] of Object.entries(form.parameters ?? {}))
    stack.view.parameters[key] = stack.view.parameters[key] === HIDDEN ? HIDDEN : value;
  const left = Object.entries(stack.view.parameters);
  stack.view.parameters = Object.fromEntries(
    left.filter(([key]) => !clearParameters.includes(key)),
  );
  return begin(stack, "update");
}
