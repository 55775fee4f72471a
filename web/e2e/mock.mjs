// A pretend server for design work and for the browser test: the endpoints that the dashboard calls,
// with the same rules (cookie, CSRF token, idempotency key, content security policy), and tasks that
// go through their states by themselves. `npm run mock` serves it with content; see `usage` below.

import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";

import { seedNodes, uuid7 } from "./mock-content.mjs";
import { ACCESS_ROUTES } from "./mock-access.mjs";
import { ARRAY_ROUTES, beatArrays } from "./mock-arrays.mjs";
import { beatEvents, EVENT_ROUTES } from "./mock-events.mjs";
import { FILE_ROUTES, keepFiles, seedFiles } from "./mock-files.mjs";
import { APPROVAL_ROUTES } from "./mock-approvals.mjs";
import { IMAGE_ROUTES } from "./mock-images.mjs";
import { MACHINE_ROUTES } from "./mock-machine.mjs";
import { checkCode, peopleRoutes, secondFactorOf } from "./mock-people.mjs";
import { NODE_BACKUP_ROUTES } from "./mock-node-backups.mjs";
import { OVERVIEW_ROUTES } from "./mock-overview.mjs";
import { permissionsOf, ROLES } from "./mock-permissions.mjs";
import { RECORD_ROUTES } from "./mock-records.mjs";
import { SHARED_ROUTES } from "./mock-shared.mjs";
import { beatStacks, seedStacks, STACK_ROUTES } from "./mock-stacks.mjs";
import { TASK_ROUTES } from "./mock-tasks.mjs";
import { WATCHER_ROUTES } from "./mock-watchers.mjs";
import {
  beat,
  change,
  find,
  later,
  listOrWatch,
  makeWorld,
  Refusal,
  STREAMING,
} from "./mock-world.mjs";
import { beatExecutions, seedFlows, WORKFLOW_ROUTES } from "./mock-workflows.mjs";
import { beatWorkloads, WORKLOAD_ROUTES } from "./mock-workloads.mjs";

const usage =
  "usage: node e2e/mock.mjs [--port N] [--fresh]   (--fresh: nothing set up yet, code SETUP-CODE)";
const CSP =
  "default-src 'self'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";
const TYPES = { html: "text/html", js: "text/javascript", css: "text/css", svg: "image/svg+xml" };
const dist = new URL("../dist/", import.meta.url);

/** Starts the mock; resolves to its address and a way to end it. */
export async function startMock({ port = 0, isFresh = false } = {}) {
  const world = makeWorld(isFresh);
  world.keep = (task, time) => keepFiles(world, task, time);
  if (!isFresh) seedFiles(world);
  seedFlows(world, isFresh);
  seedStacks(world, isFresh);
  const server = createServer((request, response) => {
    answer(world, request, response).catch((error) => refuse(response, error));
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  const pulse = setInterval(() => {
    beat(world);
    beatWorkloads(world);
    beatArrays(world);
    beatExecutions(world);
    beatStacks(world);
    beatEvents(world);
  }, 2000);
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    world,
    stop() {
      clearInterval(pulse);
      world.timers.forEach(clearTimeout);
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(world, request, response) {
  const url = new URL(request.url, "http://mock");
  const raw = await readBody(request);
  const isRaw = request.headers["content-type"] === "application/octet-stream";
  const body = isRaw || raw.length === 0 ? undefined : JSON.parse(raw.toString("utf8"));
  response.setHeader("content-security-policy", CSP);
  response.setHeader("x-content-type-options", "nosniff");
  response.setHeader("x-request-id", randomUUID());
  const isApi = url.pathname.startsWith("/api/") || url.pathname === "/version";
  if (!isApi) return serveFile(url.pathname, response);

  for (const [method, pattern, need, handler] of ROUTES) {
    const match = method === request.method && pattern.exec(url.pathname);
    if (!match) continue;
    const context = {
      world,
      request,
      response,
      body,
      raw,
      query: url.searchParams,
      path: match.groups ?? {},
    };
    if (need !== "public") authorise(context, need);
    if (request.method !== "GET") checkChange(context, need);
    const result = await handler(context);
    if (result === STREAMING) return undefined;
    if (result === undefined) return response.writeHead(204).end();
    const status =
      request.method === "POST" && /(setup|tasks|task-arrays|join-tokens)$/.test(url.pathname)
        ? 201
        : 200;
    response.writeHead(status, { "content-type": "application/json" });
    return response.end(JSON.stringify(result));
  }
  throw new Refusal(404, "no-such-route", `there is no ${url.pathname}`, "see /openapi.json");
}

async function readBody(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

async function serveFile(path, response) {
  const name = path === "/" ? "index.html" : path.slice(1);
  try {
    const bytes = await readFile(new URL(name, dist));
    response.writeHead(200, {
      "content-type": TYPES[name.split(".").at(-1)] ?? "application/octet-stream",
    });
    response.end(bytes);
  } catch {
    response.writeHead(404).end();
  }
}

function refuse(response, error) {
  const known = error instanceof Refusal;
  if (!known) console.error(error);
  if (response.headersSent) return response.end();
  const status = known ? error.status : 500;
  response.writeHead(status, { "content-type": "application/problem+json" });
  return response.end(
    JSON.stringify({
      type: `https://hostler.example/errors/${error.code ?? "internal"}`,
      title: error.code ?? "internal",
      status,
      detail: known ? error.detail : "something failed inside the mock",
      code: error.code ?? "internal",
      hint: error.hint ?? "",
      requestId: response.getHeader("x-request-id"),
      errors: error.errors ?? [],
    }),
  );
}

function authorise(context, need) {
  const cookie = /hostler_session=([\w-]+)/.exec(context.request.headers.cookie ?? "")?.[1];
  const session = context.world.sessions.get(cookie);
  if (!session)
    throw new Refusal(401, "unauthenticated", "nobody is logged in", "log in with `hostler login`");
  Object.assign(context, { session, cookie });
  if (need !== "any" && ROLES.indexOf(session.role) < ROLES.indexOf(need))
    throw new Refusal(
      403,
      "forbidden",
      `this needs the role ${need}; you have ${session.role}`,
      "ask an admin of the project for a role that allows it; `hostler whoami` shows yours",
    );
}

function checkChange({ world, request, session }, need) {
  if (need !== "public" && request.headers["x-hostler-csrf"] !== session.csrf)
    throw new Refusal(
      403,
      "forbidden",
      "the CSRF token is missing or wrong",
      "reload the page and try again",
    );
  if (request.method !== "POST") return;
  const key = request.headers["idempotency-key"];
  if (!key)
    throw new Refusal(
      400,
      "malformed",
      "the mock wants an Idempotency-Key with every POST",
      "send one",
    );
  if (world.keys.has(key))
    throw new Refusal(422, "idempotency-key-reused", "the key was used before", "make a new one");
  world.keys.set(key, true);
}

function openSession({ world, response }, name) {
  const { role } = world.users.get(name);
  const cookie = randomUUID();
  const csrf = randomUUID();
  world.sessions.set(cookie, { name, role, csrf, id: uuid7() });
  response.setHeader("set-cookie", `hostler_session=${cookie}; Path=/; HttpOnly; SameSite=Strict`);
  return {
    name,
    csrfToken: csrf,
    timeExpires: new Date(Date.now() + 12 * 3_600_000).toISOString(),
  };
}

function heldOf({ id, name, facts, metrics }) {
  return {
    id,
    node: name,
    placements: metrics.runsActive,
    cores: facts.cores / 4,
    memory: facts.memory / 8,
    disk: 0,
    ...(facts.gpus.length > 0 && {
      gpus: [
        { index: 0, share: 1 },
        { index: 1, share: 0.5 },
      ],
    }),
  };
}

const ROUTES = [
  ...WORKLOAD_ROUTES,
  ...WORKFLOW_ROUTES,
  ...STACK_ROUTES,
  ...TASK_ROUTES,
  ...ARRAY_ROUTES,
  ...APPROVAL_ROUTES,
  ...IMAGE_ROUTES,
  ...FILE_ROUTES,
  ...peopleRoutes(openSession),
  ...ACCESS_ROUTES,
  ...RECORD_ROUTES,
  ...SHARED_ROUTES,
  ...EVENT_ROUTES,
  ...WATCHER_ROUTES,
  ...NODE_BACKUP_ROUTES,
  ...MACHINE_ROUTES,
  ...OVERVIEW_ROUTES,
  [
    "GET",
    /^\/version$/,
    "public",
    ({ world }) => ({
      version: "0.1.0",
      apiVersion: "v1",
      serverId: "00000000-0000-7000-8000-000000000001",
      needsSetup: world.needsSetup,
    }),
  ],
  [
    "POST",
    /^\/api\/v1\/setup$/,
    "public",
    (context) => {
      const { world, body } = context;
      if (!world.needsSetup) throw new Refusal(409, "conflict", "setup is done", "log in instead");
      if (body.code !== "SETUP-CODE")
        throw new Refusal(
          401,
          "unauthenticated",
          "the one-time code is wrong",
          "look at what the first start printed",
        );
      world.users.set(body.name, { password: body.password, role: "admin" });
      world.needsSetup = false;
      return openSession(context, body.name);
    },
  ],
  [
    "POST",
    /^\/api\/v1\/login$/,
    "public",
    (context) => {
      const { world, body } = context;
      if (world.users.get(body.name)?.password !== body.password)
        throw new Refusal(
          401,
          "unauthenticated",
          "the name or the password is wrong",
          "try again; an admin can set a new password",
        );
      checkCode(world, body);
      return openSession(context, body.name);
    },
  ],
  ["POST", /^\/api\/v1\/logout$/, "any", ({ world, cookie }) => void world.sessions.delete(cookie)],
  [
    "GET",
    /^\/api\/v1\/whoami$/,
    "any",
    ({ world, session }) => ({
      id: session.id,
      name: session.name,
      kind: "user",
      secondFactor: secondFactorOf(world, session.name),
      role: session.permissions ? undefined : session.role,
      permissions: session.permissions ?? permissionsOf(session.role),
      projects: [],
      csrfToken: session.csrf,
    }),
  ],
  ["GET", /^\/api\/v1\/projects$/, "any", ({ world }) => ({ items: world.projects })],
  [
    "GET",
    /^\/api\/v1\/node-holdings$/,
    "viewer",
    ({ world }) => ({ items: [...world.nodes.values()].map(heldOf) }),
  ],
  [
    "GET",
    /^\/api\/v1\/nodes$/,
    "viewer",
    (context) => listOrWatch(context, "node", [...context.world.nodes.values()]),
  ],
  [
    "GET",
    /^\/api\/v1\/nodes\/(?<node>[^/]+)$/,
    "viewer",
    ({ world, path }) => find(world.nodes, path.node, "node"),
  ],
  [
    "POST",
    /^\/api\/v1\/nodes\/(?<node>[^/]+)\/(?<verb>cordon|uncordon)$/,
    "operator",
    ({ world, path, body }) => {
      const node = find(world.nodes, path.node, "node");
      node.cordon =
        path.verb === "cordon"
          ? { reason: body.reason, isDraining: false, time: new Date().toISOString() }
          : undefined;
      return change(world, "node", node);
    },
  ],
  [
    "POST",
    /^\/api\/v1\/join-tokens$/,
    "operator",
    ({ world, request }) => {
      const ticket = `hj1_${randomUUID().replaceAll("-", "")}`;
      later(world, 4000, () => {
        const [node] = seedNodes(true);
        Object.assign(node, { id: uuid7(), name: "stall-9" });
        world.nodes.set(node.id, node);
        change(world, "node", node, "ADDED");
      });
      const time = Date.now();
      return {
        token: {
          id: uuid7(),
          labels: {},
          state: "unused",
          timeCreated: new Date(time).toISOString(),
          timeExpires: new Date(time + 3_600_000).toISOString(),
        },
        ticket,
        command: `hostler agent join ${ticket} --server https://${request.headers.host}`,
      };
    },
  ],
];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const argv = process.argv.slice(2);
  if (argv.includes("--help")) {
    console.log(usage);
  } else {
    const port = argv.includes("--port") ? Number(argv[argv.indexOf("--port") + 1]) : 7480;
    const mock = await startMock({ port, isFresh: argv.includes("--fresh") });
    console.log(`${mock.address}  (admin / hostler, or vera / hostler who may only look)`);
  }
}
