// What the mock does with files: content by its digest, and what tasks left.

import { createHash } from "node:crypto";

import { before } from "./mock-content.mjs";
import { find, Refusal, STREAMING } from "./mock-world.mjs";

const OLD = 130;
const digestOf = (content) => createHash("sha256").update(content).digest("hex");

/** Enters content; the seed may tell another size of it than it has. */
function enter(world, project, label, content, more = {}) {
  const digest = digestOf(content);
  const time = new Date().toISOString();
  const view = {
    digest,
    size: Buffer.byteLength(content),
    kind: "output",
    label,
    chunks: 1,
    timeCreated: time,
    timeUsed: time,
    ...more,
  };
  world.blobs.set(`${project} ${digest}`, { project, content, view });
  return digest;
}

function output(task, name, digest, more = {}) {
  const { run, timeEnded } = task.status;
  return {
    run,
    name,
    ...(digest && { digest }),
    size: 0,
    isArchive: false,
    task: task.name,
    timeCreated: timeEnded,
    ...more,
  };
}

/** The seed: a task with inputs and kept files, and enough old content for a second page. */
export function seedFiles(world) {
  const sent = (label, content, seconds, more) => {
    const time = before(seconds);
    const about = { kind: "file", createdBy: "mira", timeCreated: time, timeUsed: time, ...more };
    return enter(world, "default", label, content, about);
  };
  for (let at = OLD; at > 0; at -= 1) sent(`frame-${at}.txt`, `frame ${at}\n`, 90_000 + at * 60);
  const scene = sent("042.scene", "scene 042\n", 34_900, { size: 48 * 2 ** 20, chunks: 61 });
  const textures = sent("textures", "textures\n", 34_850, { size: 2 ** 30, chunks: 1312 });

  const task = [...world.tasks.values()].find(({ name }) => name === "render-042");
  task.spec.inputs = [
    { blob: scene, path: "042.scene", mode: "644" },
    { blob: textures, path: "assets/textures", unpack: true },
  ];
  task.spec.outputs = [
    { path: "frames/*.png", when: "success" },
    { path: "logs", when: "always" },
    { path: "preview.mp4", when: "success" },
  ];
  const left = (name, content, more) => {
    const { timeEnded: time } = task.status;
    const about = { timeCreated: time, timeUsed: time };
    const digest = enter(world, "default", name.split("/").at(-1), content, about);
    return output(task, name, digest, { size: Buffer.byteLength(content), ...more });
  };
  task.left = [
    left("frames/0001.png", "not really a picture\n"),
    left("logs", "not really an archive\n", { isArchive: true }),
    output(task, "preview.mp4", undefined, { problem: "there is no such file" }),
  ];
}

/** What a node would keep: `echo WORDS > FILE` in the command is understood, nothing else is there. */
export function keepFiles(world, task, time) {
  const command = (task.spec.command ?? []).join(" ");
  const [, words, file] = /echo (.+) > (\S+)/.exec(command) ?? [];
  const kept = (task.spec.outputs ?? []).map(({ path, name = path }) => {
    if (path !== file)
      return output(task, name, undefined, { problem: "there is no such file", timeCreated: time });
    const content = `${words}\n`;
    const digest = enter(world, task.project, name.split("/").at(-1), content);
    return output(task, name, digest, { size: content.length, timeCreated: time });
  });
  task.left = [...kept, ...(task.left ?? [])];
}

function blobOf(world, { project, blob }) {
  const found = world.blobs.get(`${project} ${blob}`);
  if (!found)
    throw new Refusal(
      404,
      "not-found",
      `there is no blob \`${blob}\``,
      "list them with `hostler blob ls`",
    );
  return found;
}

function isNeeded(world, { project, view: { digest } }) {
  const needs = ({ spec, left = [] }) =>
    [...(spec.inputs ?? []).map(({ blob }) => blob), ...left.map((one) => one.digest)].includes(
      digest,
    );
  return [...world.tasks.values()].some((task) => task.project === project && needs(task));
}

const BLOB = "/api/v1/projects/(?<project>[^/]+)/blobs/(?<blob>[0-9a-f]{64})";

export const FILE_ROUTES = [
  [
    "GET",
    /^\/api\/v1\/projects\/(?<project>[^/]+)\/blobs$/,
    "viewer",
    ({ world, path, query }) => {
      const kind = query.get("kind");
      const views = [...world.blobs.values()]
        .filter(({ project }) => project === path.project)
        .map(({ view }) => view)
        .filter((view) => !kind || view.kind === kind)
        .sort((a, b) => (a.timeCreated < b.timeCreated ? 1 : -1));
      const from = Number(query.get("cursor") ?? 0);
      const to = from + Number(query.get("limit") ?? 100);
      return {
        items: views.slice(from, to),
        ...(to < views.length && { nextCursor: String(to) }),
      };
    },
  ],
  ["GET", new RegExp(`^${BLOB}$`), "viewer", ({ world, path }) => blobOf(world, path).view],
  [
    "GET",
    new RegExp(`^${BLOB}/content$`),
    "viewer",
    ({ world, path, response }) => {
      const { content } = blobOf(world, path);
      response.writeHead(200, {
        "content-type": "application/octet-stream",
        "content-length": Buffer.byteLength(content),
      });
      response.end(content);
      return STREAMING;
    },
  ],
  [
    "DELETE",
    new RegExp(`^${BLOB}$`),
    "user",
    ({ world, path }) => {
      if (isNeeded(world, blobOf(world, path)))
        throw new Refusal(
          409,
          "conflict",
          "a task still needs this blob",
          "remove the task first; what nothing needs goes by itself in time",
        );
      world.blobs.delete(`${path.project} ${path.blob}`);
    },
  ],
  [
    "GET",
    /^\/api\/v1\/projects\/[^/]+\/tasks\/(?<task>[^/]+)\/outputs$/,
    "viewer",
    ({ world, path }) => ({ items: find(world.tasks, path.task, "task").left ?? [] }),
  ],
];
