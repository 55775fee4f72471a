// What a project holds against what it may hold, and what is reserved of a node against what it has.

import type { NodeHeldView, NodeView, QueueProject } from "./api/types";
import { bytes } from "./words";

export interface Held {
  word: string;
  held: number;
  /** Absent where nothing limits it. */
  limit: number | undefined;
  format: (amount: number) => string;
}

const plain = (amount: number): string => amount.toLocaleString("en", { maximumFractionDigits: 2 });

export function quotasOf(project: QueueProject): Held[] {
  const { quota, cores, memory, gpus, counts, workloads, secrets, blobs, logs, state, stacks } =
    project;
  const limit = (amount: number | string | null | undefined): number | undefined =>
    amount === null || amount === undefined ? undefined : Number(amount);
  const tasks = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return [
    { word: "Cores", held: cores, limit: limit(quota.cores), format: plain },
    { word: "Memory", held: Number(memory), limit: limit(quota.memory), format: bytes },
    { word: "GPUs", held: gpus, limit: limit(quota.gpus), format: plain },
    { word: "Tasks", held: tasks, limit: limit(quota.tasks), format: plain },
    { word: "Workloads", held: workloads ?? 0, limit: limit(quota.workloads), format: plain },
    { word: "Secrets", held: secrets ?? 0, limit: limit(quota.secrets), format: plain },
    { word: "Blobs", held: Number(blobs ?? 0), limit: limit(quota.blobs), format: bytes },
    { word: "Logs", held: Number(logs ?? 0), limit: limit(quota.logs), format: bytes },
    { word: "State", held: Number(state ?? 0), limit: limit(quota.state), format: bytes },
    { word: "Stacks", held: stacks ?? 0, limit: limit(quota.stacks), format: plain },
  ];
}

/** What is reserved of a node, whatever is really used; GPUs only where it has some. */
export function reservedOf(node: NodeView, held: NodeHeldView): Held[] {
  const gpus = node.facts?.gpus?.length ?? 0;
  const given = (held.gpus ?? []).reduce((sum, { share }) => sum + share, 0);
  const found: Held[] = [
    { word: "Cores", held: held.cores, limit: node.facts?.cores, format: plain },
    {
      word: "Memory",
      held: Number(held.memory),
      limit: Number(node.facts?.memory ?? 0) || undefined,
      format: bytes,
    },
  ];
  if (gpus > 0) found.push({ word: "GPUs", held: given, limit: gpus, format: plain });
  return found;
}
