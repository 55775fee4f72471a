// Files of tasks: what they are called here and on disk, and what is said where there is none.

import { fill } from "./api/http";
import type { BlobKind, BlobView, OutputSpec, OutputView, TaskView } from "./api/types";
import { isSettled, type Look } from "./words";

/** The kinds that a project has; images belong to everybody and have a page of their own. */
export const FILE_KINDS = ["file", "output"] as const;
export type FileKind = (typeof FILE_KINDS)[number];

export const KIND_WORDS: Record<BlobKind, string> = {
  file: "Sent",
  image: "Image",
  output: "Left by a task",
  backup: "Backup of a machine",
};

export const KEPT: Look = { word: "Kept", icon: "check", tone: "good" };
export const NOT_KEPT: Look = { word: "Not kept", icon: "cross", tone: "bad" };

const SHORT = 12;

export function shortDigest(digest: string): string {
  return digest.slice(0, SHORT);
}

export function blobName({ label, digest }: Pick<BlobView, "label" | "digest">): string {
  return label || shortDigest(digest);
}

/** Where the content is read. The browser fetches it by itself and so never holds it in memory. */
export function contentAddress(project: string, blob: string): string {
  return fill("/api/v1/projects/{project}/blobs/{blob}/content", { project, blob });
}

/** The last part of a name, as a file on disk is called; a directory comes as an archive. */
export function fileName(name: string, isArchive = false): string {
  const last = name.split("/").findLast((part) => part !== "") ?? name;
  return isArchive ? `${last}.tar` : last;
}

/** `logs, however it ends`. */
export function whenWords({ when }: OutputSpec): string {
  return when === "always" ? "however it ends" : "when it succeeds";
}

/** Why a task that keeps files has none; one that waits or runs may still leave some. */
export function noneKept({ status, spec }: TaskView): string {
  if (!isSettled(status.state)) return "Nothing yet: files are kept when the task ends.";
  if (status.state === "lost") return "Nothing was kept: it is not known how the task ended.";
  const isForSuccess = (spec.outputs ?? []).every(({ when }) => when !== "always");
  return status.state !== "completed" && isForSuccess
    ? "Nothing was kept: the task did not succeed."
    : "Nothing was kept.";
}

/** How many runs left something; whose is whose only matters where there are several. */
export function runCount(outputs: readonly OutputView[]): number {
  return new Set(outputs.map(({ run }) => run)).size;
}
