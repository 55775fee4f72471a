// Which GPUs are asked for, in the language of the command line: `2`, `1:0.5`,
// `2,model=A100,memory=40GiB`, `ids=0,1`. And how the GPUs of a node stand.

import type { GpuFact, GpuMetrics, NodeView, WorkloadSpec } from "./api/types";
import { exactBytes, readBytes, type Read } from "./fields";

export type GpuRequest = NonNullable<NonNullable<WorkloadSpec["resources"]>["gpus"]>;
type GpuWishes = Exclude<GpuRequest, number>;

const WHOLE = /^[0-9]{1,4}$/;

export function readGpus(text: string): Read<GpuRequest> {
  const wrong = (what: string): Read<GpuRequest> => ({
    ok: false,
    error: `${what}; write for example 2, 1:0.5, 2,model=A100,memory=40GiB or ids=0,1.`,
  });
  const wishes: GpuWishes = {};
  const ids: number[] = [];
  let isInIds = false;
  for (const [at, word] of text.split(",").entries()) {
    const [key = "", value] = word.split("=").map((part) => part.trim());
    if (value === undefined && isInIds) {
      if (!WHOLE.test(key)) return wrong("GPUs are named by their numbers");
      ids.push(Number(key));
      continue;
    }
    isInIds = key === "ids";
    if (value === undefined) {
      const [count = "", share] = key.split(":");
      if (at > 0) return wrong("How many comes first");
      if (!WHOLE.test(count)) return wrong("GPUs are counted in whole numbers");
      wishes.count = Number(count);
      if (share === undefined) continue;
      if (!isShare(share)) return wrong("A share is more than 0 and at most 1");
      if (Number(share) < 1) wishes.share = Number(share);
    } else if (key === "ids") {
      if (!WHOLE.test(value)) return wrong("GPUs are named by their numbers");
      ids.push(Number(value));
    } else if (key === "model" && value !== "") {
      wishes.model = value;
    } else if (key === "memory") {
      const memory = readBytes(value);
      if (!memory.ok) return memory;
      wishes.memory = memory.value;
    } else {
      return wrong("There are ids, model and memory");
    }
  }
  if (new Set(ids).size < ids.length) return wrong("A GPU is named twice");
  if (ids.length > 0 && (wishes.count ?? ids.length) !== ids.length)
    return wrong("“ids” names another number of GPUs");
  if (ids.length > 0) return { ok: true, value: { ...wishes, count: null, ids } };
  const { count = 1, ...rest } = wishes;
  if (Object.keys(rest).length === 0) return { ok: true, value: count ?? 1 };
  return { ok: true, value: { ...rest, count } };
}

function isShare(text: string): boolean {
  return /^[01](\.[0-9]{1,3})?$/.test(text) && Number(text) > 0 && Number(text) <= 1;
}

/** What `readGpus` reads back; empty where none are asked for. */
export function gpusText(request: GpuRequest | undefined): string {
  if (request === undefined) return "";
  if (typeof request === "number") return request > 0 ? String(request) : "";
  const { count, share, ids = [], model, memory } = request;
  const words: string[] = [];
  const many = count ?? (ids.length > 0 ? ids.length : 1);
  if (share) words.push(`${many}:${share}`);
  else if (ids.length === 0) words.push(String(many));
  if (model) words.push(`model=${model}`);
  if (memory) words.push(`memory=${exactBytes(memory)}`);
  if (ids.length > 0) words.push(`ids=${ids.join(",")}`);
  return words.join(",");
}

/** `2 GPUs, model A100, at least 40GiB each`. */
export function gpusWords(request: GpuRequest | undefined): string {
  if (request === undefined || request === 0) return "";
  const wishes: GpuWishes = typeof request === "number" ? { count: request } : request;
  const ids = wishes.ids ?? [];
  const count = wishes.count ?? (ids.length > 0 ? ids.length : 1);
  const words = [
    wishes.share
      ? `${Math.round(wishes.share * 1000) / 10} % of ${count === 1 ? "a GPU" : `${count} GPUs each`}`
      : `${count} GPU${count === 1 ? "" : "s"}`,
  ];
  if (ids.length > 0) words.push(`number ${ids.join(", ")}`);
  if (wishes.model) words.push(`model ${wishes.model}`);
  if (wishes.memory) words.push(`at least ${exactBytes(wishes.memory)} each`);
  return words.join(", ");
}

export interface Gpu extends GpuFact {
  now: GpuMetrics | undefined;
}

/** The GPUs of a node with how each stands now; what was measured holds only while the node is heard of. */
export function gpusOf(node: NodeView): Gpu[] {
  const isHere = node.state === "online" || node.state === "stale";
  const now = isHere ? (node.metrics?.gpus ?? []) : [];
  return (node.facts?.gpus ?? []).map((gpu) => ({
    ...gpu,
    now: now.find((metrics) => (metrics.index ?? 0) === (gpu.index ?? 0)),
  }));
}

/** How busy all of them are together, 0 to 1; nothing where none tells. */
export function gpusBusy(gpus: readonly Gpu[]): number | undefined {
  const told = gpus.flatMap(({ now }) => (typeof now?.utilisation === "number" ? [now] : []));
  if (told.length === 0) return undefined;
  return told.reduce((sum, now) => sum + (now.utilisation ?? 0), 0) / told.length;
}

/** `2 × NVIDIA L4, 1 × A100`. */
export function gpuModels(gpus: readonly Gpu[]): string {
  const counts = new Map<string, number>();
  for (const { model = "" } of gpus) counts.set(model, (counts.get(model) ?? 0) + 1);
  return [...counts].map(([model, count]) => `${count} × ${model || "GPU"}`).join(", ");
}
