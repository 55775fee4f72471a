import { expect, test } from "vitest";

import type { NodeView } from "./api/types";
import { quotasOf, reservedOf } from "./quota";

test("what is held stands against its quota, where there is one", () => {
  const held = quotasOf({
    project: "lab",
    weight: 1,
    quota: {
      cores: 8,
      memory: 2 ** 34,
      gpus: null,
      workloads: 20,
      blobs: 2 ** 31,
      logs: 2 ** 32,
      stacks: 9,
    },
    counts: { pending: 5, running: 2 },
    cores: 2.5,
    memory: 2 ** 30,
    gpus: 0.5,
    workloads: 3,
    secrets: 4,
    blobs: 2 ** 30,
    logs: 2 ** 31,
    state: 2 ** 20,
    stacks: 6,
    next: [],
  });
  expect(
    held.map(({ word, held, limit, format }) => [word, format(held), limit && format(limit)]),
  ).toEqual([
    ["Cores", "2.5", "8"],
    ["Memory", "1 GiB", "16 GiB"],
    ["GPUs", "0.5", undefined],
    ["Tasks", "7", undefined],
    ["Workloads", "3", "20"],
    ["Secrets", "4", undefined],
    ["Blobs", "1 GiB", "2 GiB"],
    ["Logs", "2 GiB", "4 GiB"],
    ["State", "1 MiB", undefined],
    ["Stacks", "6", "9"],
  ]);
});

test("what is reserved of a node stands against what it has", () => {
  const facts = { cores: 16, memory: 2 ** 36, gpus: [{ index: 0 }, { index: 1 }] };
  const held = {
    id: "n",
    node: "box",
    placements: 2,
    cores: 4.5,
    memory: 2 ** 35,
    disk: 0,
    gpus: [
      { index: 0, share: 1 },
      { index: 1, share: 0.25 },
    ],
  };
  const words = (node: Partial<NodeView>): string[] =>
    reservedOf(node as NodeView, held).map(
      ({ word, held: amount, limit, format }) =>
        `${word} ${format(amount)} of ${limit === undefined ? "?" : format(limit)}`,
    );
  expect(words({ facts })).toEqual([
    "Cores 4.5 of 16",
    "Memory 32 GiB of 64 GiB",
    "GPUs 1.25 of 2",
  ]);
  expect(words({})).toEqual(["Cores 4.5 of ?", "Memory 32 GiB of ?"]);
});
