import { expect, test } from "vitest";

import {
  coreShare,
  deedCommand,
  deedTitle,
  fullness,
  isGrave,
  isMachineTab,
  type LogsAsked,
  logsCommand,
  logsQuery,
  machineCommand,
  type OfferedDeed,
  priorityWord,
  processState,
  serviceLook,
  serviceVerbs,
} from "./machine";

const LOGS: LogsAsked = {
  service: "",
  file: "",
  kernel: false,
  lines: 100,
  priority: undefined,
  grep: "",
};

test.each([
  [{ state: "running", active: "active" }, "Running", "good", ["restart", "stop"]],
  [{ state: "exited", active: "active" }, "Exited", "good", ["restart", "stop"]],
  [{ state: "failed", active: "failed" }, "Failed", "bad", ["start"]],
  [{ state: "dead", active: "inactive" }, "Dead", "muted", ["start"]],
  [{ state: "auto-restart", active: "activating" }, "Auto-restart", "wait", ["restart", "stop"]],
  [{ state: "unknown" }, "Unknown", "odd", []],
])("%o is %s", (service, word, tone, verbs) => {
  expect(serviceLook(service)).toMatchObject({ word, tone });
  expect(serviceVerbs(service)).toEqual(verbs);
});

test("figures of processes and disks in words", () => {
  expect(coreShare(0)).toBe("0 %");
  expect(coreShare(0.0234)).toBe("2.3 %");
  expect(coreShare(1.4)).toBe("140 %");
  expect(processState("D")).toBe("waits for a device");
  expect(processState("?")).toBe("?");
  expect(fullness({ used: 30, available: 10 })).toBe(0.75);
  expect(fullness({ used: 0, available: 0 })).toBe(0);
});

test("lines of logs are grave by their priority", () => {
  expect(isGrave({ priority: 3 })).toBe(true);
  expect(isGrave({ priority: 4 })).toBe(false);
  expect(isGrave({})).toBe(false);
  expect(priorityWord(4)).toBe("warning");
  expect(priorityWord(9)).toBe("9");
});

test.each<[Partial<LogsAsked>, object, string]>([
  [{}, { lines: 100 }, "hostler node logs web-1"],
  [
    { service: " sshd ", priority: 4, grep: "Failed password", lines: 500 },
    { service: "sshd", priority: 4, grep: "Failed password", lines: 500 },
    "hostler node logs web-1 --service sshd --priority 4 --grep 'Failed password' -n 500",
  ],
  [
    { kernel: true, service: "sshd" },
    { kernel: true, lines: 100 },
    "hostler node logs web-1 --kernel",
  ],
  [
    { file: "/var/log/nginx/error.log", service: "sshd", kernel: true, priority: 3 },
    { file: "/var/log/nginx/error.log", lines: 100 },
    "hostler node logs web-1 --file /var/log/nginx/error.log",
  ],
])("logs of %o", (asked, query, command) => {
  expect(logsQuery({ ...LOGS, ...asked })).toEqual(query);
  expect(logsCommand("web-1", { ...LOGS, ...asked })).toBe(command);
});

test("what looks at the same", () => {
  expect(machineCommand("health", "web-1")).toBe("hostler node health web-1");
  expect(machineCommand("packages", "web-1", ["--upgradable"])).toBe(
    "hostler node packages ls web-1 --upgradable",
  );
  expect(isMachineTab("disk")).toBe(true);
  expect(isMachineTab("disks")).toBe(false);
});

test("what does the same", () => {
  const restart: OfferedDeed = { do: "service", name: "nginx.service", verb: "restart" };
  expect(deedTitle(restart, "web-1")).toBe("Restart nginx.service on web-1?");
  expect(deedCommand(restart, "web-1", " a1 ")).toBe(
    "hostler node services restart nginx.service --on web-1 --approval a1",
  );
  const signal: OfferedDeed = {
    do: "signal",
    pid: 4711,
    startTicks: 99,
    name: "tmux: server",
    signal: "term",
  };
  expect(deedTitle(signal, "web-1")).toBe("Send term to tmux: server (4711) on web-1?");
  expect(deedCommand(signal, "web-1")).toBe(
    "hostler node processes kill web-1 4711 --signal term --name 'tmux: server'",
  );
});
