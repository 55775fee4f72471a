import { expect, test } from "vitest";

import type { StateChangeView, StateEntryView } from "./api/types";
import {
  changed,
  keyMistake,
  shownValue,
  sizeMistake,
  sizeOf,
  snippet,
  stateCommand,
} from "./state";

const OWNER = { kind: "user", name: "ada" } as const;
const T = "2026-01-01T00:00:00Z";

function entry(key: string, revision = 1): StateEntryView {
  return {
    namespace: "app",
    key,
    size: 1,
    revision,
    createRevision: 1,
    version: 1,
    owner: OWNER,
    timeCreated: T,
    timeModified: T,
  };
}

function change(
  kind: StateChangeView["kind"],
  key: string,
  revision: number,
  more: Partial<StateChangeView> = {},
): StateChangeView {
  const [createRevision, version, previous] = [1, 2, 0];
  return {
    kind,
    namespace: "app",
    key,
    revision,
    previous,
    createRevision,
    version,
    owner: OWNER,
    time: T,
    ...more,
  };
}

test("a value is JSON, text or binary", () => {
  expect(shownValue({ value: '{"a":[1]}' })).toEqual({
    form: "JSON",
    text: '{\n  "a": [\n    1\n  ]\n}',
    isCut: false,
  });
  expect(shownValue({ value: "{not json" }).form).toBe("text");
  expect(shownValue({ value: "42" })).toEqual({ form: "text", text: "42", isCut: false });
  expect(shownValue({ value: btoa("\u0000hi\u00ff"), encoding: "base64" })).toEqual({
    form: "binary",
    text: `000000  00 68 69 ff${" ".repeat(36)}  .hi.`,
    isCut: false,
  });
  const long = shownValue({ value: "x".repeat(70_000) });
  expect([long.text.length, long.isCut]).toEqual([65_536, true]);
  expect(shownValue({})).toEqual({ form: "text", text: "", isCut: false });
});

test("the beginning of a value fits a line", () => {
  expect(snippet({ value: "a\n  b" })).toBe("a b");
  expect(snippet({ value: "x".repeat(100) })).toBe(`${"x".repeat(80)}…`);
  expect(snippet({ value: "AA==", encoding: "base64" })).toBe("(binary)");
  expect(snippet({})).toBe("");
  expect(sizeOf({ value: "ü" })).toBe(2);
  expect(sizeOf({ value: "AAA=", encoding: "base64" })).toBe(2);
});

test("changes keep the list true, in the order of keys", () => {
  const list = [entry("a"), entry("c")];
  const keys = (entries: StateEntryView[]): string[] => entries.map(({ key }) => key);
  expect(keys(changed(list, change("put", "b", 2, { value: "xy" }), false))).toEqual([
    "a",
    "b",
    "c",
  ]);
  expect(changed(list, change("put", "b", 2, { value: "xy" }), false)[1]?.size).toBe(2);
  expect(keys(changed(list, change("put", "d", 2, { value: "" }), false))).toEqual(["a", "c", "d"]);
  expect(keys(changed(list, change("put", "d", 2, { value: "" }), true))).toEqual(["a", "c"]);
  expect(keys(changed(list, change("deleted", "a", 2), false))).toEqual(["c"]);
  expect(keys(changed(list, change("expired", "c", 2), false))).toEqual(["a"]);
  const touched = changed(
    list,
    change("touched", "a", 5, { timeExpires: "2027-01-01T00:00:00Z" }),
    false,
  )[0];
  expect(touched).toMatchObject({ revision: 5, size: 1, timeExpires: "2027-01-01T00:00:00Z" });
});

test("a change that is older than what is known changes nothing", () => {
  const list = [entry("a", 9)];
  expect(changed(list, change("deleted", "a", 8), false)).toEqual(list);
});

test("bounds of keys and values", () => {
  expect(keyMistake("config/db")).toBe("");
  expect(keyMistake("")).not.toBe("");
  expect(keyMistake("x".repeat(513))).not.toBe("");
  expect(keyMistake("a\nb")).not.toBe("");
  expect(sizeMistake(1 << 20)).toBe("");
  expect(sizeMistake((1 << 20) + 1)).not.toBe("");
});

test("commands name namespace and project where they are not those that are meant", () => {
  expect(stateCommand("get", ["leader"], { namespace: "default", project: "default" })).toBe(
    "hostler state get leader",
  );
  expect(
    stateCommand("rm", ["a b"], { namespace: "app", project: "lab" }, ["--if-revision", "7"]),
  ).toBe("hostler state rm 'a b' -n app -p lab --if-revision 7");
});
