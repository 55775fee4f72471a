import { expect, test } from "vitest";

import type { BackupScheduleView } from "./api/types";
import { contentWords, scheduleLook, sealWords } from "./backup";

const SCHEDULE: BackupScheduleView = {
  directory: "/var/backups/hostler",
  every: "1d",
  keep: 14,
  isSealed: true,
  hasMasterKey: false,
  hasContent: true,
  isOverdue: false,
};

test("what opens a backup is said where it is known", () => {
  expect(sealWords({})).toBeUndefined();
  expect(sealWords({ isSealed: null })).toBeUndefined();
  expect(sealWords({ isSealed: true, hasMasterKey: true })).toBe("sealed, with the master key");
  expect(sealWords({ isSealed: false })).toBe(
    "open to whoever reads the file, without the master key",
  );
});

test("the clock stands as its last backup does", () => {
  expect(scheduleLook(SCHEDULE).word).toBe("On time");
  expect(scheduleLook({ ...SCHEDULE, isOverdue: true }).word).toBe("Overdue");
  expect(scheduleLook({ ...SCHEDULE, isOverdue: true, problem: "disk full" }).word).toBe("Failed");
  expect(scheduleLook({ ...SCHEDULE, directory: null }).word).toBe("Not set up");
});

test("what is in a backup", () => {
  expect(contentWords(SCHEDULE)).toBe("everything; sealed, without the master key");
  expect(contentWords({ ...SCHEDULE, hasContent: false, hasMasterKey: true })).toBe(
    "everything but images and files that tasks left; sealed, with the master key",
  );
});
