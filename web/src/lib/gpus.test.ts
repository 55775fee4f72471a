import { expect, test } from "vitest";

import type { NodeView } from "./api/types";
import {
  gpuModels,
  gpusBusy,
  gpusOf,
  gpusText,
  gpusWords,
  readGpus,
  type GpuRequest,
} from "./gpus";

test.each<[string, GpuRequest, string]>([
  ["2", 2, "2 GPUs"],
  ["1", 1, "1 GPU"],
  ["1:0.5", { count: 1, share: 0.5 }, "50 % of a GPU"],
  ["2:0.125", { count: 2, share: 0.125 }, "12.5 % of 2 GPUs each"],
  [
    "2,model=A100,memory=40GiB",
    { count: 2, model: "A100", memory: 40 * 2 ** 30 },
    "2 GPUs, model A100, at least 40GiB each",
  ],
  ["ids=0,3", { count: null, ids: [0, 3] }, "2 GPUs, number 0, 3"],
  ["model=L4,ids=1", { count: null, model: "L4", ids: [1] }, "1 GPU, number 1, model L4"],
])("%s is read, said and written back", (text, request, words) => {
  expect(readGpus(text)).toEqual({ ok: true, value: request });
  expect(gpusWords(request)).toBe(words);
  expect(gpusText(request)).toBe(text);
});

test("what is the same is written in the short way", () => {
  expect(readGpus(" 2:1 ")).toEqual({ ok: true, value: 2 });
  expect(readGpus("model=H100")).toEqual({ ok: true, value: { count: 1, model: "H100" } });
  expect(gpusText(0)).toBe("");
  expect(gpusText(undefined)).toBe("");
  expect(gpusWords(undefined)).toBe("");
});

test.each([
  "many",
  "-1",
  "1:0",
  "1:2",
  "model=A100,2",
  "3,ids=0,1",
  "ids=0,0",
  "colour=red",
  ",",
  "2,memory=lots",
])("%s is no request for GPUs", (text) => expect(readGpus(text).ok).toBe(false));

function node(state: NodeView["state"]): NodeView {
  return {
    id: "n",
    name: "box",
    labels: {},
    state,
    agentVersion: "",
    generation: 1,
    desiredGeneration: 1,
    appliedGeneration: 1,
    timeCreated: "",
    timeState: "",
    facts: {
      gpus: [
        { index: 0, model: "L4" },
        { index: 1, model: "L4", trouble: "Xid 79" },
        { index: 2, model: "A100" },
      ],
    },
    metrics: {
      gpus: [
        { index: 2, utilisation: 0.5 },
        { index: 0, utilisation: 1 },
      ],
    },
  };
}

test("GPUs are joined with what is measured of them, while the node is heard of", () => {
  const here = gpusOf(node("online"));
  expect(here.map(({ now }) => now?.utilisation)).toEqual([1, undefined, 0.5]);
  expect(gpusBusy(here)).toBe(0.75);
  expect(gpuModels(here)).toBe("2 × L4, 1 × A100");
  expect(gpusBusy(gpusOf(node("offline")))).toBeUndefined();
});
