import { expect, test } from "vitest";

import type { LockHoldView, LockView } from "./api/types";
import {
  forceWords,
  heldSince,
  holdersWords,
  holderWords,
  lockCommand,
  lockLook,
  purpose,
} from "./lock";

const T = "2026-01-01T00:00:00Z";
const HOLD: LockHoldView = {
  id: "h",
  token: 7,
  by: "ada",
  holder: { host: "web-1", pid: 12, command: "./deploy.sh", why: "release 42" },
  ttl: "30s",
  timeAsked: T,
  timeRenewed: T,
};
const LOCK: LockView = {
  id: "l",
  name: "db/migrate",
  slots: 1,
  held: 1,
  waiting: 0,
  token: 7,
  holders: [HOLD],
  timeCreated: T,
  timeModified: T,
};

test("a lock is free, held in part, held, or waited for", () => {
  expect(lockLook(LOCK).word).toBe("Held");
  expect(lockLook({ ...LOCK, slots: 4 }).word).toBe("Partly held");
  expect(lockLook({ ...LOCK, waiting: 2 }).word).toBe("Waited for");
  expect(lockLook({ ...LOCK, held: 0, holders: [] }).word).toBe("Free");
});

test("holders are said as far as they told", () => {
  expect(holderWords(HOLD)).toBe("ada on web-1 (pid 12)");
  expect(holderWords({ by: "ci", holder: {} })).toBe("ci");
  expect(holdersWords({ ...LOCK, held: 3 })).toBe("ada on web-1 (pid 12) and 2 more");
  expect(holdersWords({ ...LOCK, held: 0, holders: [] })).toBe("");
  expect(purpose(HOLD)).toBe("release 42");
  expect(purpose({ holder: { command: "./deploy.sh" } })).toBe("./deploy.sh");
});

test("it is held since the first of those who hold it", () => {
  const at = (timeGranted: string): LockHoldView => ({ ...HOLD, timeGranted });
  const holders = [at("2026-01-01T00:00:05Z"), at("2026-01-01T00:00:01.5Z"), HOLD];
  expect(heldSince({ holders })).toBe("2026-01-01T00:00:01.5Z");
  expect(heldSince({ holders: [] })).toBeUndefined();
});

test("what is taken away is said with a reason", () => {
  expect(forceWords(" ", undefined, "")).toEqual(["--reason", "…"]);
  expect(forceWords("stuck ", HOLD, "a1")).toEqual([
    "--hold",
    "h",
    "--reason",
    "stuck",
    "--approval",
    "a1",
  ]);
});

test("commands name the project where it is not the one that is meant", () => {
  expect(lockCommand("ls", undefined, "lab", ["--all"])).toBe("hostler lock ls -p lab --all");
  expect(lockCommand("force-release", "db/migrate", "default", ["--reason", "it hangs"])).toBe(
    "hostler lock force-release db/migrate --reason 'it hangs'",
  );
});
