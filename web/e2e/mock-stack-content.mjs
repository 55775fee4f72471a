// The stacks that the mock begins with.

import { uuid7 } from "./mock-content.mjs";

const MINUTE_MS = 60_000;
export const HIDDEN = "******";
const VALUE = "OS::Heat::Value";

export function ago(ms) {
  return new Date(Date.now() - ms).toISOString();
}

export function stand(action, status, reason = "") {
  const words = { "in-progress": "started", complete: "completed successfully", failed: "failed" };
  return { action, status, reason: reason || `Stack ${action.toUpperCase()} ${words[status]}` };
}

export function makeStack(project, name, standing, more = {}) {
  const { options = {}, definition, ...rest } = more;
  return {
    project,
    view: {
      id: uuid7(),
      name,
      standing,
      traversal: 1,
      revision: 0,
      options,
      timeCreated: ago(900 * MINUTE_MS),
      timeBegun: ago(40 * MINUTE_MS),
      owner: "mira",
      parameters: {},
      outputs: [],
      ...rest,
    },
    resources: [],
    edges: [],
    hooks: [],
    events: [],
    revisions: [],
    snapshots: [],
    past: [],
    hold: undefined,
    drift: undefined,
    uses: [],
    definition: {
      template: {},
      environment: {},
      files: {},
      createdBy: { kind: "user", name: "mira" },
      timeCreated: ago(40 * MINUTE_MS),
      ...definition,
    },
  };
}

export function makeResource(stack, name, type, more = {}) {
  const resource = {
    id: uuid7(),
    name,
    type,
    stack: stack.view.name,
    stackId: stack.view.id,
    physical: `${name}-${stack.view.id.slice(-4)}`,
    action: "create",
    status: "complete",
    reason: "state changed",
    requiredBy: [],
    deletionPolicy: "delete",
    timeCreated: stack.view.timeCreated,
    timeModified: stack.view.timeBegun,
    properties: { value: name },
    attributes: { value: name },
    ...more,
  };
  stack.resources.push(resource);
  return resource;
}

let happened = 0;

export function happen(stack, resource, action, status, reason) {
  happened += 1;
  stack.events.push({
    // In the order in which they happened, however many there are in a moment.
    id: `0192f3c4-0000-7000-8000-${String(happened).padStart(12, "0")}`,
    time: new Date().toISOString(),
    stack: stack.view.id,
    ...(resource && { resource: resource.name, physical: resource.physical }),
    type: resource?.type ?? "OS::Heat::Stack",
    action,
    status,
    reason,
  });
}

export function keep(stack, action, reason = "") {
  const number = (stack.view.revision += 1);
  stack.revisions.unshift({
    number,
    action,
    ...(reason && { reason }),
    count: stack.resources.length,
    createdBy: { kind: "user", name: "mira" },
    timeCreated: new Date().toISOString(),
    definition: structuredClone(stack.definition),
  });
}

const TEMPLATE = {
  heat_template_version: "2018-08-31",
  description: "The shop as customers see it",
  parameter_groups: [{ label: "Size", description: "How much of it", parameters: ["replicas"] }],
  parameters: {
    replicas: { type: "number", default: 2, label: "Replicas" },
    image: { type: "string", default: "shop:2.14" },
    db_password: { type: "string", hidden: true },
  },
  resources: {
    network: { type: VALUE },
    secrets: { type: VALUE },
    servers: { type: "OS::Heat::ResourceGroup" },
    balancer: { type: VALUE },
  },
};

function shop(database) {
  const stack = makeStack("default", "shop-web", stand("update", "complete"), {
    description: "The shop as customers see it",
    traversal: 4,
    options: { tags: ["prod", "web"], isRollbackEnabled: true, driftEvery: "1h" },
    parameters: {
      "OS::stack_name": "shop-web",
      replicas: "2",
      image: "shop:2.14",
      db_password: HIDDEN,
    },
    outputs: [
      { name: "address", description: "Where it answers", value: "https://shop.example" },
      { name: "token", error: "the resource balancer has no attribute token" },
    ],
    definition: {
      template: TEMPLATE,
      environment: { parameters: { replicas: 2, db_password: "correct horse" } },
      files: {
        "server.yaml": "heat_template_version: 2018-08-31\n",
        "prod.yaml": "parameters:\n  db_password: correct horse\n",
      },
    },
  });
  const network = makeResource(stack, "network", VALUE, { requiredBy: ["servers"] });
  const secrets = makeResource(stack, "secrets", VALUE, { requiredBy: ["servers"] });
  const servers = makeResource(stack, "servers", "OS::Heat::ResourceGroup", {
    requiredBy: ["balancer"],
  });
  makeResource(stack, "balancer", "OS::Heat::WaitCondition", {
    metadata: { note: "signalled by hand" },
  });
  stack.edges.push(
    { from: "servers", to: network.name },
    { from: "servers", to: secrets.name },
    { from: "balancer", to: "servers" },
  );
  const below = makeStack("default", "shop-web-servers-1a2b", stand("create", "complete"), {
    parent: stack.view.id,
    depth: 1,
  });
  servers.child = below.view.id;
  for (const name of ["0", "1"])
    makeResource(below, name, "server.yaml", { parentResource: "servers" });
  stack.uses.push({ stack: database.view.name, outputs: ["address"] });
  keep(stack, "create");
  keep(stack, "update", "more of it");
  keep(stack, "update");
  stack.revisions.at(-1).definition.template.description = "The first shop";
  stack.snapshots.push({
    id: uuid7(),
    name: "before-sale",
    status: "complete",
    reason: "",
    createdBy: { kind: "user", name: "mira" },
    timeCreated: ago(300 * MINUTE_MS),
  });
  stack.drifted = [
    {
      name: "balancer",
      kind: "OS::Heat::WaitCondition",
      drift: "configuration",
      properties: [
        { name: "count", before: 1, after: 3 },
        { name: "token", before: HIDDEN, after: HIDDEN, isSecret: true },
      ],
      message: "",
    },
    { name: "0", path: ["servers"], kind: "server.yaml", drift: "missing", message: "not found" },
    { name: "network", kind: VALUE, drift: "in-sync" },
  ];
  for (const one of stack.resources) happen(stack, one, "create", "complete", "state changed");
  happen(stack, undefined, "update", "complete", "Stack UPDATE completed successfully");
  return [stack, below];
}

/** An update that waits at a hook. */
function rollout() {
  const stack = makeStack("default", "rollout", stand("update", "in-progress"), {
    traversal: 2,
    revision: 1,
    timeBegun: ago(MINUTE_MS),
    timeDeadline: ago(-50 * MINUTE_MS),
    definition: { template: { heat_template_version: "2018-08-31", resources: { one: {} } } },
  });
  makeResource(stack, "one", VALUE, { action: "update" });
  makeResource(stack, "two", VALUE, {
    action: "update",
    status: "in-progress",
    reason: "UPDATE paused until Hook pre-update is cleared",
    hook: "pre-update",
  });
  makeResource(stack, "three", VALUE, { action: "init", physical: undefined, reason: "" });
  stack.edges.push({ from: "two", to: "one" }, { from: "three", to: "two" });
  happen(stack, undefined, "update", "in-progress", "Stack UPDATE started");
  return stack;
}

function staging() {
  const why = "Resource CREATE failed: ValueError: resources.volume: no space left on stall-1";
  const stack = makeStack("default", "staging", stand("create", "failed", why), {
    options: { tags: ["staging"] },
    definition: { template: { heat_template_version: "2018-08-31", resources: { volume: {} } } },
  });
  makeResource(stack, "volume", VALUE, {
    status: "failed",
    reason: "ValueError: resources.volume: no space left on stall-1",
  });
  happen(stack, stack.resources[0], "create", "failed", stack.resources[0].reason);
  return stack;
}

export function stackContent() {
  const database = makeStack("default", "shop-db", stand("create", "complete"), {
    options: { tags: ["prod"] },
    outputs: [{ name: "address", value: "10.0.0.7:5432" }],
    definition: { template: { heat_template_version: "2018-08-31", resources: { data: {} } } },
  });
  makeResource(database, "data", VALUE);
  keep(database, "create");
  return [staging(), database, ...shop(database), rollout()];
}
