import { expect, test } from "vitest";

import type { LogLine, WorkloadLogLine } from "./api/types";
import { LINES_KEPT, Output, shown } from "./output";

function data(text: string | Uint8Array, stream: "stdout" | "stderr" = "stdout"): LogLine {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const base64 = btoa(String.fromCharCode(...bytes));
  return { type: "data", stream, time: "2026-01-31T12:00:00Z", data: base64, cursor: "c" };
}

test("chunks may end inside a line or a character", () => {
  const output = new Output();
  const bytes = new TextEncoder().encode("grüße\nzwei");
  output.take(data(bytes.slice(0, 3)));
  output.take(data(bytes.slice(3)));
  output.take(data(" und\n"));
  expect(output.lines.map((line) => line.text)).toEqual(["grüße", "zwei und"]);
});

test("streams do not tear each other's lines", () => {
  const output = new Output();
  output.take(data("out "));
  output.take(data("err\n", "stderr"));
  output.take(data("more\n\nlast\n"));
  expect(output.lines.map((line) => [line.kind, line.text])).toEqual([
    ["stdout", "out more"],
    ["stderr", "err"],
    ["stdout", ""],
    ["stdout", "last"],
  ]);
});

test("a gap is a line of its own", () => {
  const output = new Output();
  output.take(data("before"));
  output.take({ type: "gap", detail: "4 KiB rotated away" });
  output.take(data("after\n"));
  expect(output.lines.map((line) => line.kind)).toEqual(["stdout", "gap", "stdout"]);
});

test("lines of several nodes, with a cursor for each and marks between runs", () => {
  const output = new Output();
  const line = (node: string, text: string, cursor: string): WorkloadLogLine => ({
    type: "data",
    node,
    stream: "stdout",
    time: "2026-01-31T12:00:00Z",
    data: btoa(text),
    cursor,
  });
  output.take({ type: "mark", node: "a", detail: "run 2 began", cursor: "a=r2/0.0.0" });
  output.take(line("a", "from a, ", "a=r2/0.0.9"));
  output.take(line("b", "from b\n", "b=r1/0.4.0"));
  output.take({ type: "gap", node: "b", detail: "the node is away" });
  output.take(line("a", "whole\n", "a=r2/0.0.20"));
  expect(output.lines.map((shown) => `${shown.kind} ${shown.node} ${shown.text}`)).toEqual([
    "mark a run 2 began",
    "stdout a from a, whole",
    "stdout b from b",
    "gap b the node is away",
  ]);
  expect(output.cursor).toBe("a=r2/0.0.20,b=r1/0.4.0");
});

test("what is held is bounded", () => {
  const output = new Output();
  output.take(data("x\n".repeat(LINES_KEPT + 10)));
  expect(output.lines).toHaveLength(LINES_KEPT);
  expect(output.dropped).toBe(10);
});

test.each([
  ["\u001b[32mok\u001b[0m", "ok"],
  ["10 %\r50 %\r100 %\r", "100 %"],
  ["\u001b]0;title\u0007text", "text"],
  ["bell\u0007", "bell\ufffd"],
  ["tab\there", "tab\there"],
])("shown(%j)", (raw, text) => expect(shown(raw)).toBe(text));
