// What the mock does with workflows: kept, shown, carried out. Executions go on by themselves, a step at
// a time, until one waits for an approval or fails. Modules are kept beside them.

import { uuid7 } from "./mock-content.mjs";
import { MODULE_ROUTES, seedModules } from "./mock-modules.mjs";
import { Refusal } from "./mock-world.mjs";

const MINUTE_MS = 60_000;
const RELEASE = `-- Builds, tests and puts a program live.
local build = task("build"):command("make -j2 app"):artifacts({ "out/app" }):build()
local test = task("test"):depends_on(build):retries(2, "exponential"):command(test_it):build()
local lint = task("lint"):depends_on(build):command("make lint"):build()

workflow.define("release"):tasks({ build, test, lint, pack, ask, deploy, alarm })
`;
const at = (line) => ({ file: "release.sloth", line });
const STEPS = [
  {
    name: "build",
    description: "Makes the program",
    act: { command: "make -j2 app" },
    artifacts: ["out/app"],
    place: at(2),
  },
  {
    name: "test",
    act: "function",
    dependsOn: ["build"],
    timeout: "10m",
    retry: { retries: 2, backoff: "exponential" },
    place: at(3),
  },
  { name: "lint", act: { command: "make lint" }, dependsOn: ["build"], place: at(4) },
  { name: "pack", act: { program: ["tar", "-cf", "app.tar", "out"] }, dependsOn: ["test", "lint"] },
  {
    name: "ask",
    act: { approval: { count: 1, message: "put it live?", approvers: [] } },
    dependsOn: ["pack"],
  },
  {
    name: "deploy to all web machines",
    act: "function",
    dependsOn: ["ask", "build"],
    delegate: { targets: { all: { role: "web" } }, strategy: "least-loaded" },
    compensation: { command: "roll-back" },
  },
  {
    name: "alarm",
    act: { command: "page-somebody" },
    afterFailureOf: ["deploy to all web machines"],
  },
];

function ago(ms) {
  return new Date(Date.now() - ms).toISOString();
}

function version(name, number, file, steps, text, by, time, description = "") {
  return {
    project: "default",
    text,
    view: {
      name,
      version: number,
      bundle: String(number).repeat(64),
      file,
      createdBy: by,
      timeCreated: time,
      graph: { name, ...(description && { description }), steps },
    },
  };
}

function begin(world, project, { view }, by, body = {}) {
  const only = body.options?.only ?? [];
  const execution = {
    id: uuid7(),
    project,
    workflow: view.name,
    version: view.version,
    state: "running",
    isCancelRequested: false,
    createdBy: by,
    timeCreated: new Date().toISOString(),
    options: body.options ?? {},
    ...(body.values && { values: body.values }),
    steps: view.graph.steps.map((step) => ({
      name: step.name,
      status: "waiting",
      standing: "waiting",
      tries: 0,
      dependsOn: step.dependsOn ?? [],
    })),
  };
  if (only.length > 0)
    for (const step of execution.steps) if (!only.includes(step.name)) skip(step, "not-selected");
  world.executions.set(execution.id, execution);
  return execution;
}

function skip(step, reason) {
  Object.assign(step, { status: "skipped", standing: { skipped: reason } });
}

function end(step, how, message = "") {
  Object.assign(step, { status: how, standing: { ended: how }, message, timeEnded: ago(0) });
  for (const task of step.tasks ?? []) task.end ??= how;
}

function start(world, step) {
  step.tries += 1;
  Object.assign(step, {
    status: "running",
    standing: { running: { attempt: step.tries, since: "0s" } },
    timeStarted: ago(0),
    message: "",
  });
  if (step.name === "ask") {
    step.approval = "0192f3c4-0000-7000-8000-0000000000aa";
    step.message = `waits for somebody to agree: hostler approval approve ${step.approval}`;
    return;
  }
  const [task] = [...world.tasks.values()];
  const node = step.name.startsWith("deploy") ? "stall-1" : undefined;
  step.tasks = [
    { id: task?.id ?? uuid7(), kind: "try", try: step.tries, ...(node && { node }) },
    ...(step.tasks ?? []),
  ];
}

function isOver(step) {
  return typeof step.standing === "object" && !("running" in step.standing);
}

function isDone(step) {
  return step?.status === "succeeded" || step?.standing?.skipped === "not-selected";
}

function advance(world, execution) {
  const byName = new Map(execution.steps.map((step) => [step.name, step]));
  if (execution.isCancelRequested) {
    for (const step of execution.steps) {
      if (step.status === "running") end(step, "cancelled", "cancelled");
      else if (!isOver(step)) skip(step, "ended");
    }
    finish(execution, "cancelled");
    return;
  }
  for (const step of execution.steps) {
    if (step.status === "running" && step.name !== "ask") end(step, "succeeded", "all well");
    if (step.name === "alarm" && step.status === "waiting") skip(step, "no-failure");
    const before = step.dependsOn.map((name) => byName.get(name));
    if (step.status === "waiting" && before.every(isDone)) start(world, step);
  }
  if (execution.steps.every(isOver)) finish(execution, "succeeded");
}

function finish(execution, outcome) {
  Object.assign(execution, { state: "ended", outcome, timeEnded: ago(0) });
}

export function beatExecutions(world) {
  for (const execution of world.executions.values())
    if (execution.state !== "ended") advance(world, execution);
}

/** Two workflows, an execution that failed an hour ago, and one that goes on. */
export function seedFlows(world, isFresh) {
  Object.assign(world, { workflows: [], executions: new Map() });
  seedModules(world, isFresh);
  if (isFresh) return;
  const words = "Builds, tests and puts it live";
  const older = version(
    "release",
    1,
    "release.sloth",
    STEPS.slice(0, 4),
    "-- the first\n",
    "mira",
    ago(900 * MINUTE_MS),
  );
  const newest = version(
    "release",
    2,
    "release.sloth",
    STEPS,
    RELEASE,
    "admin",
    ago(90 * MINUTE_MS),
    words,
  );
  newest.view.modules = [{ name: "web", version: 2 }];
  const nightly = version(
    "nightly clean-up",
    1,
    "nightly.lua",
    [{ name: "sweep", act: { command: "sweep" } }],
    "-- sweep\n",
    "mira",
    ago(2000 * MINUTE_MS),
  );
  world.workflows.push(older, newest, nightly);

  const failed = begin(world, "default", newest, "mira", { values: { image: { tag: "v2" } } });
  const times = [
    [0, 40],
    [40, 130],
    [40, 65],
    [130, 160],
  ];
  failed.timeCreated = ago(60 * MINUTE_MS);
  failed.steps.forEach((step, i) => {
    const [from, to] = times[i] ?? [];
    if (from === undefined) return skip(step, "dependency");
    start(world, step);
    if (i === 3) end(step, "failed", "tar: out: Cannot stat: No such file or directory");
    else end(step, "succeeded", i === 1 ? "212 tests, all well" : "");
    step.timeStarted = ago(60 * MINUTE_MS - from * 1000);
    step.timeEnded = ago(60 * MINUTE_MS - to * 1000);
    return undefined;
  });
  failed.steps[0].artifacts = ["out/app"];
  failed.outputs = { digest: "6f0c51" };
  finish(failed, "failed");
  failed.timeEnded = ago(57 * MINUTE_MS);
  begin(world, "default", newest, "admin");
}

function known({ world, path, query }, asked = query.get("version")) {
  const all = world.workflows.filter(
    (one) => one.project === path.project && one.view.name === path.workflow,
  );
  const found = asked ? all.find((one) => one.view.version === Number(asked)) : all.at(-1);
  if (!found)
    throw new Refusal(
      404,
      "not-found",
      `there is no workflow \`${path.workflow}\``,
      "list them with `hostler workflow ls`",
    );
  return { all, found };
}

function pathOf(path) {
  return Object.fromEntries(
    Object.entries(path).map(([key, one]) => [key, decodeURIComponent(one)]),
  );
}

function executionOf({ world, path }) {
  const found = world.executions.get(path.execution);
  if (!found)
    throw new Refusal(
      404,
      "not-found",
      `there is no execution \`${path.execution}\``,
      "look again",
    );
  return found;
}

function push({ world, path, body, session }) {
  const { name: file, text } = body.bundle;
  const lines = text.split("\n");
  const wrong = lines.flatMap((line, i) =>
    line.includes("mistake")
      ? [{ pointer: "/bundle", detail: `${file}:${i + 1}:1: expected '='\n    ${line}\n    ^` }]
      : [],
  );
  if (wrong.length > 0)
    throw new Refusal(422, "invalid", "the request is not valid", "correct what is named", wrong);
  const names = [...text.matchAll(/workflow\.define\("([^"]+)"\)/g)].map(([, name]) => name);
  const workflows = names.map((name) => {
    const before = world.workflows.filter(
      (one) => one.project === path.project && one.view.name === name,
    );
    const steps = [...text.matchAll(/task\("([^"]+)"\)/g)].map(([, step]) => ({
      name: step,
      act: "function",
    }));
    const made = version(name, before.length + 1, file, steps, text, session.name, ago(0));
    made.project = path.project;
    world.workflows.push(made);
    return made.view;
  });
  const warnings = text.includes("odd")
    ? [`${file}:1: nobody knows \`odd\`; it has no effect`]
    : [];
  return { workflows, warnings };
}

function run(context) {
  const { world, path, body, session, request } = context;
  const { found } = known(context, body.version);
  const held = "0192f3c4-0000-7000-8000-0000000000bb";
  if (world.isRunHeld && request.headers["hostler-approval"] !== held)
    throw new Refusal(
      403,
      "approval-required",
      `workflow.run of ${path.workflow} needs an approval; the request ${held} waits for it`,
      "ask somebody who can approve it",
    );
  return begin(world, path.project, found, session.name, body);
}

function listed(execution) {
  return { ...execution, steps: undefined, outputs: undefined };
}

const BASE = "\\/api\\/v1\\/projects\\/(?<project>[^/]+)";
const ONE = `${BASE}\\/workflows\\/(?<workflow>[^/]+)`;
const EXECUTION = `${BASE}\\/executions\\/(?<execution>[^/]+)`;

const HANDLERS = [
  [
    "GET",
    `${BASE}\\/workflows`,
    "viewer",
    ({ world, path }) => {
      const newest = new Map();
      for (const { project, view } of world.workflows)
        if (project === path.project) newest.set(view.name, view);
      return { items: [...newest.values()] };
    },
  ],
  ["POST", `${BASE}\\/workflows`, "user", push],
  ["GET", ONE, "viewer", (context) => known(context).found.view],
  [
    "GET",
    `${ONE}\\/source`,
    "viewer",
    (context) => {
      const { view, text } = known(context).found;
      const files = { "lib/words.lua": "return {}\n" };
      if (view.modules)
        Object.assign(files, { "web@2//": "web.lua", "web@2//web.lua": "return { port = 443 }\n" });
      return { name: view.file, text, files };
    },
  ],
  [
    "GET",
    `${ONE}\\/versions`,
    "viewer",
    (context) => ({
      items: known(context)
        .all.map(({ view }) => view)
        .toReversed(),
    }),
  ],
  [
    "DELETE",
    ONE,
    "operator",
    (context) => {
      const { all } = known(context);
      context.world.workflows = context.world.workflows.filter((one) => !all.includes(one));
    },
  ],
  ["POST", `${ONE}\\/executions`, "user", run],
  [
    "GET",
    `${BASE}\\/executions`,
    "viewer",
    ({ world, path, query }) => {
      const [workflow, open] = [query.get("workflow"), query.get("open")];
      const items = [...world.executions.values()]
        .filter((one) => one.project === path.project)
        .filter((one) => !workflow || one.workflow === workflow)
        .filter((one) => !open || (one.state !== "ended") === (open === "true"))
        .toReversed();
      return { items: items.map(listed) };
    },
  ],
  ["GET", EXECUTION, "viewer", executionOf],
  [
    "GET",
    `${EXECUTION}\\/output`,
    "viewer",
    (context) => {
      const step = executionOf(context).steps.find(
        ({ name }) => name === context.query.get("step"),
      );
      const output = step?.name === "test" ? { tests: 212 } : null;
      return { items: step?.tasks ? [{ end: step.status, message: step.message, output }] : [] };
    },
  ],
  [
    "POST",
    `${EXECUTION}\\/cancel`,
    "user",
    (context) => Object.assign(executionOf(context), { isCancelRequested: true }),
  ],
  [
    "POST",
    `${EXECUTION}\\/retry`,
    "user",
    (context) => {
      const execution = executionOf(context);
      const after = new Set([context.body.from]);
      for (const step of execution.steps) {
        if (step.dependsOn.some((name) => after.has(name))) after.add(step.name);
        if (step.status === "succeeded" && !after.has(step.name)) continue;
        Object.assign(step, { status: "waiting", standing: "waiting", message: "" });
        delete step.timeStarted;
        delete step.timeEnded;
      }
      delete execution.outcome;
      delete execution.timeEnded;
      return Object.assign(execution, { state: "running", isCancelRequested: false });
    },
  ],
];

export const WORKFLOW_ROUTES = [...HANDLERS, ...MODULE_ROUTES].map(
  ([method, pattern, need, handler]) => [
    method,
    new RegExp(`^${pattern}$`),
    need,
    (context) => handler({ ...context, path: pathOf(context.path) }),
  ],
);
