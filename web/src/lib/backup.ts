// Backups of the control plane: how they stand, and by which clock they are made.

import type { BackupScheduleView, BackupStanding, BackupView } from "./api/types";
import type { Look } from "./words";

export const BACKUP_STANDINGS: Record<BackupStanding, Look> = {
  "under-way": { word: "Under way", icon: "play", tone: "busy" },
  verified: { word: "Verified", icon: "check", tone: "good" },
  unverified: { word: "Not verified", icon: "question", tone: "wait" },
  elsewhere: { word: "Elsewhere", icon: "arrow", tone: "muted" },
  failed: { word: "Failed", icon: "cross", tone: "bad" },
};

/** What opens it, or that nothing is needed; `undefined` where that is not known. */
export function sealWords({
  isSealed,
  hasMasterKey,
}: Pick<BackupView, "isSealed" | "hasMasterKey">): string | undefined {
  if (typeof isSealed !== "boolean") return undefined;
  const key = hasMasterKey ? "with the master key" : "without the master key";
  return `${isSealed ? "sealed" : "open to whoever reads the file"}, ${key}`;
}

/** How the clock of backups stands. */
export function scheduleLook(schedule: BackupScheduleView): Look {
  if (!schedule.directory) return { word: "Not set up", icon: "question", tone: "muted" };
  if (schedule.problem) return { word: "Failed", icon: "cross", tone: "bad" };
  if (schedule.isOverdue) return { word: "Overdue", icon: "clock", tone: "wait" };
  return { word: "On time", icon: "check", tone: "good" };
}

/** What is in each of them, and what is not. */
export function contentWords({ hasContent, hasMasterKey, isSealed }: BackupScheduleView): string {
  const content = hasContent ? "everything" : "everything but images and files that tasks left";
  const seal = sealWords({ isSealed, hasMasterKey });
  return `${content}; ${seal}`;
}
