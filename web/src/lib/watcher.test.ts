import { expect, test } from "vitest";

import type { WatcherView } from "./api/types";
import {
  buildWatcher,
  needsOf,
  standsWords,
  WATCH_KINDS,
  watcherAdd,
  watcherCommand,
  watcherDraft,
  type WatcherDraft,
  watcherLook,
  type WatchKind,
  whereWords,
} from "./watcher";

const WATCHER: WatcherView = {
  id: "w",
  name: "full",
  spec: { watch: { disk: { path: "/srv", above: 85 } } },
  summary: "disk /srv above 85%",
  owner: "ada",
  isEnabled: true,
  looking: 3,
  firing: 0,
  trouble: 0,
  nodes: [],
  generation: 1,
  timeCreated: "2026-01-01T00:00:00Z",
  timeModified: "2026-01-01T00:00:00Z",
};

function made(more: Partial<WatcherDraft>): string {
  const { spec, mistakes } = buildWatcher({ ...watcherDraft(), name: "w", ...more });
  expect(mistakes).toEqual({});
  return spec === undefined ? "" : watcherAdd("w", spec, "default");
}

function wrong(more: Partial<WatcherDraft>): string[] {
  return Object.keys(buildWatcher({ ...watcherDraft(), name: "w", ...more }).mistakes).sort();
}

test("a watcher looks as what is worst of it", () => {
  expect(watcherLook(WATCHER).word).toBe("Enabled");
  expect(watcherLook({ ...WATCHER, trouble: 1 }).word).toBe("Trouble");
  expect(watcherLook({ ...WATCHER, trouble: 1, firing: 1 }).word).toBe("Firing");
  expect(watcherLook({ ...WATCHER, firing: 1, hindrance: "may not" }).word).toBe("Held back");
  expect(watcherLook({ ...WATCHER, firing: 1, isEnabled: false }).word).toBe("Disabled");
  expect(standsWords({ ...WATCHER, firing: 1, trouble: 2 })).toBe("3 look, 1 firing, 2 in trouble");
  expect(standsWords(WATCHER)).toBe("3 look");
});

test("it is said on which nodes", () => {
  expect(whereWords({})).toBe("all nodes");
  expect(whereWords({ selector: { role: "db", site: "barn" } })).toBe("role=db,site=barn");
  expect(whereWords({ nodes: ["db-1", "db-2"], selector: {} })).toBe("db-1, db-2");
});

test("a form means a watcher, and the command that makes the same", () => {
  expect(made({ subject: "/etc/hosts", hash: true, on: ["changed"] })).toBe(
    "hostler watcher add w --file /etc/hosts --hash --on changed",
  );
  const drop = {
    kind: "directory",
    subject: "/srv/in",
    recursive: true,
    pattern: "*.csv",
  } as const;
  expect(made(drop)).toBe("hostler watcher add w --directory /srv/in --recursive --name '*.csv'");
  expect(made({ kind: "process", subject: "nginx", count: "2", cooldown: "5m" })).toBe(
    "hostler watcher add w --process nginx --count 2 --cooldown 5m",
  );
  expect(made({ kind: "process", fits: "^java .*shop", on: ["ended"] })).toBe(
    "hostler watcher add w --process-command '^java .*shop' --on ended",
  );
  expect(made({ kind: "port", subject: "5432", nodes: "db-1, db-2" })).toBe(
    "hostler watcher add w --port 5432 --on-node db-1,db-2",
  );
  expect(made({ kind: "port", subject: "[::1]:80" })).toBe(
    "hostler watcher add w --port '[::1]:80'",
  );
  expect(made({ kind: "log", subject: "/var/log/syslog", pattern: "ERROR|FATAL" })).toBe(
    "hostler watcher add w --log /var/log/syslog --pattern 'ERROR|FATAL'",
  );
  expect(made({ kind: "log", subject: "ssh", pattern: "Failed" })).toBe(
    "hostler watcher add w --unit ssh --pattern Failed",
  );
  const raid = { kind: "command", subject: "mdadm --test '/dev/md 0'", user: "root" } as const;
  expect(made({ ...raid, on: ["matches", "failed"], pattern: "down", timeLimit: "30s" })).toBe(
    "hostler watcher add w --user root --time-limit 30s --pattern down --on failed,matches -- mdadm --test '/dev/md 0'",
  );
  expect(made({ kind: "cpu", figure: "90", lasts: "5m", clear: "70" })).toBe(
    "hostler watcher add w --cpu-above 90 --for 5m --clear 70",
  );
  expect(made({ kind: "memory", figure: "10.5", side: "below" })).toContain("--memory-below 10.5");
  expect(made({ kind: "load", figure: "120" })).toContain("--load-above 120");
  expect(made({ kind: "disk", subject: "/srv", figure: "85", selector: "role=db" })).toBe(
    "hostler watcher add w --disk /srv --disk-above 85 -l role=db",
  );
  expect(made({ kind: "disk", figure: "85" })).toBe("hostler watcher add w --disk-above 85");
  expect(made({ kind: "service", subject: "nginx.service", interval: "10s" })).toBe(
    "hostler watcher add w --service nginx.service --interval 10s",
  );
  expect(made({ kind: "certificate", subject: "example.org:443" })).toBe(
    "hostler watcher add w --certificate example.org:443 --within 30d",
  );
  expect(made({ kind: "certificate", subject: "/etc/x.pem", within: "7d" })).toContain(
    "--within 7d",
  );
});

test("what was chosen for another kind is not meant", () => {
  expect(
    made({ kind: "service", subject: "x.service", on: ["created", "failed"], hash: true }),
  ).toBe("hostler watcher add w --service x.service --on failed");
  expect(made({ kind: "command", subject: "true", pattern: "left over" })).toBe(
    "hostler watcher add w -- true",
  );
});

test("a form says every mistake at once", () => {
  expect(wrong({ name: "No!", selector: "role", interval: "often", nodes: "a_b" })).toEqual([
    "interval",
    "name",
    "nodes",
    "selector",
    "subject",
  ]);
  const lacking: Partial<Record<WatchKind, string[]>> = {
    log: ["pattern", "subject"],
    cpu: ["figure"],
    memory: ["figure"],
    disk: ["figure"],
    load: ["figure"],
  };
  for (const kind of Object.keys(WATCH_KINDS) as WatchKind[])
    expect([kind, ...wrong({ kind })]).toEqual([kind, ...(lacking[kind] ?? ["subject"])]);
  expect(wrong({ kind: "process", subject: "x", fits: "x", count: "0" })).toEqual([
    "count",
    "subject",
  ]);
  expect(wrong({ kind: "port", subject: "70000" })).toEqual(["subject"]);
  expect(wrong({ kind: "command", subject: "true", on: ["matches"] })).toEqual(["pattern"]);
  expect(wrong({ kind: "log", subject: "/etc/shadow", pattern: "x" })).toEqual(["subject"]);
  expect(wrong({ kind: "cpu", figure: "101", clear: "x" })).toEqual(["clear", "figure"]);
});

test("commands are more than looking, and name the project where it is another one", () => {
  expect(needsOf("command")).toBe("node.administer");
  expect(needsOf("file")).toBe("node.inspect");
  expect(watcherCommand("ls", undefined, "default")).toBe("hostler watcher ls");
  expect(watcherCommand("disable", "full", "lab")).toBe("hostler watcher disable full -p lab");
});
