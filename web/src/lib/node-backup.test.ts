import { expect, test } from "vitest";

import type { NodeBackupOutcome } from "./api/types";
import {
  backupCommand,
  backupDraft,
  type BackupDraft,
  backupName,
  buildBackup,
  buildRestore,
  createCommand,
  isSettled,
  restoreCommand,
  restoreDraft,
  type RestoreDraft,
  shortcomings,
  verdictLook,
} from "./node-backup";

const VOLUME = { digest: "00", size: 1 } as unknown as NodeBackupOutcome["manifest"];
const OUTCOME: NodeBackupOutcome = {
  manifest: VOLUME,
  volumes: [],
  files: 12,
  directories: 3,
  links: 1,
  bytes: 4096,
  bytesSent: 512,
  changed: 0,
  vanished: 0,
  unreadable: 0,
  special: 0,
  troubles: [],
};

function created(more: Partial<BackupDraft>): string {
  const { body, mistakes } = buildBackup({ ...backupDraft("web-1"), paths: "/etc", ...more });
  expect(mistakes).toEqual({});
  return body === undefined ? "" : createCommand("web-1", body);
}

function restored(more: Partial<RestoreDraft>, approval = ""): string {
  const { body, mistakes } = buildRestore({ ...restoreDraft(), ...more });
  expect(mistakes).toEqual({});
  return body === undefined ? "" : restoreCommand("nightly", body, approval);
}

test("a backup is called by its name, and judged when it was read through", () => {
  expect(backupName({ label: "nightly", id: "0199e9a1-8c54-7f7e" })).toBe("nightly");
  expect(backupName({ label: "", id: "0199e9a1-8c54-7f7e" })).toBe("0199e9a1-8c54");
  expect(verdictLook({})).toBeUndefined();
  expect(verdictLook({ verdict: { time: "" } })?.word).toBe("Verified");
  expect(verdictLook({ verdict: { time: "", problem: "gone" } })?.word).toBe("Damaged");
  expect(isSettled({ state: "failed" })).toBe(true);
  expect(isSettled({ state: "running" })).toBe(false);
});

test("what is not as it should be is counted", () => {
  expect(shortcomings(OUTCOME)).toEqual([]);
  expect(shortcomings({ ...OUTCOME, unreadable: 2, special: 1 })).toEqual([
    "2 could not be read",
    "1 neither files, directories nor links",
  ]);
});

test("a form means a backup, and the command that makes the same", () => {
  expect(created({})).toBe("hostler node backup create web-1 /etc");
  expect(
    created({
      paths: "/etc\n\n /srv/my files ",
      exclude: "*.tmp\n/srv/*/cache",
      crossFilesystems: true,
      store: "s3",
      label: "nightly",
      keep: "7",
    }),
  ).toBe(
    "hostler node backup create web-1 /etc '/srv/my files' --exclude '*.tmp' --exclude '/srv/*/cache' --cross-filesystems --store s3 --label nightly --keep 7",
  );
});

test("a form for a backup says every mistake at once", () => {
  const wrong = (more: Partial<BackupDraft>): string[] =>
    Object.keys(buildBackup({ ...backupDraft("web-1"), paths: "/etc", ...more }).mistakes).sort();
  expect(wrong({ node: "", paths: " \n", store: " ", keep: "0" })).toEqual([
    "keep",
    "node",
    "paths",
    "store",
  ]);
  expect(wrong({ paths: "/etc\netc" })).toEqual(["paths"]);
  expect(wrong({ paths: "/etc/../root" })).toEqual(["paths"]);
  expect(wrong({ keep: "7" })).toEqual(["keep"]);
});

test("a form means where and how something is put back", () => {
  expect(restored({ overwrite: true, check: true })).toBe("hostler node backup restore nightly");
  expect(restored({ where: "directory", directory: "/tmp/before", paths: "/etc/ssh" })).toBe(
    "hostler node backup restore nightly --to /tmp/before --path /etc/ssh",
  );
  expect(restored({ where: "in-place", node: "web-2", overwrite: true, check: true }, " a1")).toBe(
    "hostler node backup restore nightly --node web-2 --in-place --overwrite --check --approval a1",
  );
  const fresh = buildRestore({ ...restoreDraft(), directory: "tmp" });
  expect(fresh.body).toEqual({ to: { where: "fresh" }, overwrite: false, check: false });
  const { mistakes } = buildRestore({ ...restoreDraft(), where: "directory", paths: "etc" });
  expect(Object.keys(mistakes).sort()).toEqual(["directory", "paths"]);
});

test("commands name the backup", () => {
  expect(backupCommand("ls", undefined, ["--node", "web-1"])).toBe(
    "hostler node backup ls --node web-1",
  );
  expect(backupCommand("verify", "nightly")).toBe("hostler node backup verify nightly");
});
