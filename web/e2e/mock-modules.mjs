// What the mock does with modules: kept in versions, shown, removed.

import { Refusal } from "./mock-world.mjs";

const DAY_MS = 86_400_000;

function version(project, name, number, { file, text, modules }, by, time) {
  const view = {
    name,
    version: number,
    bundle: String(number).repeat(64),
    file,
    ...(modules && { modules }),
    createdBy: by,
    timeCreated: new Date(time).toISOString(),
  };
  return { project, text, view };
}

/** A module with two versions, and one that needs it. */
export function seedModules(world, isFresh) {
  world.modules = [];
  if (isFresh) return;
  const web = (text) => ({ file: "web.lua", text });
  const deploy = {
    file: "init.lua",
    text: 'local web = require("web")\nreturn { to = web.port }\n',
    modules: [{ name: "web", version: 2 }],
  };
  const now = Date.now();
  world.modules.push(
    version("default", "web", 1, web("return { port = 80 }\n"), "mira", now - 3 * DAY_MS),
    version("default", "web", 2, web("return { port = 443 }\n"), "admin", now - 2 * DAY_MS),
    version("default", "acme.deploy", 1, deploy, "mira", now - DAY_MS),
  );
}

function known({ world, path, query }) {
  const all = world.modules.filter(
    (one) => one.project === path.project && one.view.name === path.module,
  );
  const asked = query.get("version");
  const found = asked ? all.find((one) => one.view.version === Number(asked)) : all.at(-1);
  if (!found)
    throw new Refusal(
      404,
      "not-found",
      `there is no module \`${path.module}\``,
      "list them with `hostler workflow module ls`",
    );
  return { all, found };
}

function push({ world, path, body, session }) {
  const { name: file, text } = body.bundle;
  const at = text.split("\n").findIndex((line) => line.includes("mistake"));
  if (at >= 0)
    throw new Refusal(422, "invalid", "the request is not valid", "correct what is named", [
      { pointer: "/bundle", detail: `${file}:${at + 1}:1: expected '='` },
    ]);
  const before = world.modules.filter(
    (one) => one.project === path.project && one.view.name === body.name,
  );
  const same = before.at(-1)?.text === text ? before.at(-1) : undefined;
  const number = before.length + 1;
  const made =
    same ?? version(path.project, body.name, number, { file, text }, session.name, Date.now());
  if (!same) world.modules.push(made);
  const warnings = text.includes("return") ? [] : [`${file}: it returns nothing`];
  return { module: made.view, warnings };
}

const BASE = "\\/api\\/v1\\/projects\\/(?<project>[^/]+)\\/modules";
const ONE = `${BASE}\\/(?<module>[^/]+)`;

export const MODULE_ROUTES = [
  [
    "GET",
    BASE,
    "viewer",
    ({ world, path }) => {
      const newest = new Map();
      for (const { project, view } of world.modules)
        if (project === path.project) newest.set(view.name, view);
      return { items: [...newest.values()] };
    },
  ],
  ["POST", BASE, "user", push],
  ["GET", ONE, "viewer", (context) => known(context).found.view],
  [
    "GET",
    `${ONE}\\/source`,
    "viewer",
    (context) => {
      const { view, text } = known(context).found;
      return { name: view.name, version: view.version, bundle: { name: view.file, text } };
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
      context.world.modules = context.world.modules.filter((one) => !all.includes(one));
    },
  ],
];
