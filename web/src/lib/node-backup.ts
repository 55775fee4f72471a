// Backups of nodes: how they stand, what forms mean, and the commands that do the same.

import type {
  NodeBackupCreateBody,
  NodeBackupOutcome,
  NodeBackupRestoreBody,
  NodeBackupState,
  NodeBackupView,
} from "./api/types";
import { quoteCommand } from "./argv";
import type { Look } from "./words";

export const BACKUP_STATES: Record<NodeBackupState, Look> = {
  waiting: { word: "Waiting", icon: "clock", tone: "wait" },
  running: { word: "Running", icon: "play", tone: "busy" },
  complete: { word: "Complete", icon: "check", tone: "good" },
  failed: { word: "Failed", icon: "cross", tone: "bad" },
};

export function isSettled({ state }: Pick<NodeBackupView, "state">): boolean {
  return state === "complete" || state === "failed";
}

/** What came of reading it through last; `undefined` where nobody did. */
export function verdictLook({ verdict }: Pick<NodeBackupView, "verdict">): Look | undefined {
  if (!verdict) return undefined;
  return verdict.problem
    ? { word: "Damaged", icon: "alert", tone: "bad" }
    : { word: "Verified", icon: "check", tone: "good" };
}

/** Its name, or the beginning of what it is known by. */
export function backupName({ label, id }: Pick<NodeBackupView, "label" | "id">): string {
  return label || id.slice(0, 13);
}

/** What is not as it should be, counted. */
export function shortcomings(outcome: NodeBackupOutcome): string[] {
  const { unreadable, changed, vanished, special } = outcome;
  const counts: [number, string][] = [
    [unreadable, "could not be read"],
    [changed, "changed while they were read"],
    [vanished, "vanished before they could be read"],
    [special, "neither files, directories nor links"],
  ];
  return counts.filter(([count]) => count > 0).map(([count, words]) => `${count} ${words}`);
}

export interface BackupDraft {
  node: string;
  /** One a line. */
  paths: string;
  exclude: string;
  crossFilesystems: boolean;
  store: string;
  label: string;
  keep: string;
}

export type BackupMistakes = Partial<Record<"node" | "paths" | "store" | "keep", string>>;

export function backupDraft(node = ""): BackupDraft {
  return {
    node,
    paths: "",
    exclude: "",
    crossFilesystems: false,
    store: "server",
    label: "",
    keep: "",
  };
}

/** What the form means, or every mistake in it. */
export function buildBackup(draft: BackupDraft): {
  body?: NodeBackupCreateBody;
  mistakes: BackupMistakes;
} {
  const mistakes: BackupMistakes = {};
  if (draft.node.trim() === "") mistakes.node = "Say of which node.";
  const [paths, exclude] = [lines(draft.paths), lines(draft.exclude)];
  const wrong = pathMistake(paths);
  if (paths.length === 0) mistakes.paths = "Say which paths, one a line.";
  else if (wrong) mistakes.paths = wrong;
  const [store, label, kept] = [draft.store.trim(), draft.label.trim(), draft.keep.trim()];
  if (store === "") mistakes.store = "Say where: server, or a store of the servers.";
  const keep = /^\d{1,5}$/.test(kept) ? Number(kept) : 0;
  if (kept !== "" && (keep < 1 || keep > 10_000))
    mistakes.keep = "Write a whole number from 1 to 10000.";
  else if (kept !== "" && label === "") mistakes.keep = "Only of those with a name.";
  if (Object.keys(mistakes).length > 0) return { mistakes };
  const body: NodeBackupCreateBody = {
    paths,
    ...(exclude.length > 0 && { exclude }),
    ...(draft.crossFilesystems && { crossFilesystems: true }),
    store,
    ...(label && { label }),
    ...(keep > 0 && { keep }),
  };
  return { body, mistakes };
}

export interface RestoreDraft {
  where: "fresh" | "directory" | "in-place";
  directory: string;
  /** Of another node; that of the backup where it is empty. */
  node: string;
  paths: string;
  overwrite: boolean;
  check: boolean;
}

export type RestoreMistakes = Partial<Record<"directory" | "paths", string>>;

export function restoreDraft(): RestoreDraft {
  return { where: "fresh", directory: "", node: "", paths: "", overwrite: false, check: false };
}

/** In a fresh directory is nothing to compare with or to overwrite. */
export function buildRestore(draft: RestoreDraft): {
  body?: NodeBackupRestoreBody;
  mistakes: RestoreMistakes;
} {
  const mistakes: RestoreMistakes = {};
  const { where, node } = draft;
  const path = draft.directory.trim();
  const isFresh = where === "fresh";
  const off = where === "directory" ? pathMistake([path]) : undefined;
  if (off) mistakes.directory = off;
  const paths = lines(draft.paths);
  const wrong = pathMistake(paths);
  if (wrong) mistakes.paths = wrong;
  if (Object.keys(mistakes).length > 0) return { mistakes };
  const body: NodeBackupRestoreBody = {
    to: where === "directory" ? { where, path } : { where },
    ...(node && { node }),
    ...(paths.length > 0 && { paths }),
    overwrite: !isFresh && draft.overwrite,
    check: !isFresh && draft.check,
  };
  return { body, mistakes };
}

function pathMistake(paths: readonly string[]): string | undefined {
  const wrong = paths.find((path) => !path.startsWith("/") || path.split("/").includes(".."));
  return wrong === undefined
    ? undefined
    : `“${wrong}” is not a path of a machine: it begins with / and has no “..”.`;
}

function lines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

export function backupCommand(
  verb: "ls" | "show" | "files" | "verify" | "rm",
  backup: string | undefined,
  more: readonly string[] = [],
): string {
  return quoteCommand(["hostler", "node", "backup", verb, ...(backup ? [backup] : []), ...more]);
}

export function approvalWords(approval: string): string[] {
  return approval.trim() ? ["--approval", approval.trim()] : [];
}

/** The command that makes the same. */
export function createCommand(node: string, body: NodeBackupCreateBody, approval = ""): string {
  const words = ["hostler", "node", "backup", "create", node, ...(body.paths ?? [])];
  for (const pattern of body.exclude ?? []) words.push("--exclude", pattern);
  if (body.crossFilesystems) words.push("--cross-filesystems");
  if (body.store && body.store !== "server") words.push("--store", body.store);
  if (body.label) words.push("--label", body.label);
  if (body.keep) words.push("--keep", String(body.keep));
  return quoteCommand([...words, ...approvalWords(approval)]);
}

/** The command that puts the same back. */
export function restoreCommand(backup: string, body: NodeBackupRestoreBody, approval = ""): string {
  const words = ["hostler", "node", "backup", "restore", backup];
  if (body.node) words.push("--node", body.node);
  if (body.to.where === "directory") words.push("--to", body.to.path);
  if (body.to.where === "in-place") words.push("--in-place");
  for (const path of body.paths ?? []) words.push("--path", path);
  if (body.overwrite) words.push("--overwrite");
  if (body.check) words.push("--check");
  return quoteCommand([...words, ...approvalWords(approval)]);
}
