import { expect, test } from "vitest";

import { toJson, toYaml } from "./yaml";

test("a workload file as a person would write it", () => {
  const file = {
    name: "web",
    mode: { schedule: { cron: "0 3 * * *", timezone: "Europe/Berlin" } },
    command: ["python3", "-u", "-m", "http.server", "8080"],
    env: { QUEUE: "/tmp/queue", EMPTY: "", "odd key": "yes" },
    health: [{ check: { http: { port: 8080, path: "/" } }, interval: "10s" }],
    limits: { memory: 268435456, cpu: 1 },
    placement: {},
    tags: [],
    timeout: null,
    user: undefined,
  };
  expect(toYaml(file)).toBe(`name: web
mode:
  schedule:
    cron: "0 3 * * *"
    timezone: Europe/Berlin
command: [python3, -u, -m, http.server, "8080"]
env:
  QUEUE: /tmp/queue
  EMPTY: ""
  "odd key": "yes"
health:
- check:
    http:
      port: 8080
      path: /
  interval: 10s
limits:
  memory: 268435456
  cpu: 1
placement: {}
tags: []
timeout: null
`);
});

test("text of several lines is a block, and stays one in a list", () => {
  expect(toYaml({ command: ["sh", "-c", "while :; do\n  date\ndone\n"] })).toBe(
    "command:\n- sh\n- -c\n- |\n  while :; do\n    date\n  done\n",
  );
  expect(toYaml({ note: "one\ntwo" })).toBe("note: |-\n  one\n  two\n");
});

test("what a block could not carry is quoted", () => {
  for (const text of ["one \ntwo", " one\ntwo", "one\n\u0007two", "one\ntwo\n\n", "one\r\ntwo"])
    expect(toYaml({ text })).toBe(`text: ${JSON.stringify(text)}\n`);
});

test.each([
  "true",
  "No",
  "null",
  "12",
  "1e3",
  "~",
  "a: b",
  "# no",
  "- x",
  "*a",
  "",
  "0o7",
  "=",
  "<<",
])("%j is not taken for something else", (text) =>
  expect(toYaml({ text })).toBe(`text: ${JSON.stringify(text)}\n`),
);

test("what is no template does not become one", () => {
  const file = { command: ["echo", "{{ name }}"], note: "a {% b\nc {# d" };
  const yaml = toYaml(file);
  expect(yaml).toBe('command: [echo, "\\u007b{ name }}"]\nnote: "a \\u007b% b\\nc \\u007b# d"\n');
  expect(toJson(file)).not.toMatch(/\{[{%#]/);
  expect(JSON.parse(toJson(file))).toEqual(file);
});

test("a long list gets a line for each", () => {
  const words = Array.from({ length: 12 }, (_, index) => `a-rather-long-word-${index}`);
  expect(toYaml({ words }).split("\n")).toHaveLength(14);
});
