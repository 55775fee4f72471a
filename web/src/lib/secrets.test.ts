import { expect, test } from "vitest";

import { readReference, referenceOf, secretCommand, shownValue, valueMistake } from "./secrets";

test.each([
  ["db", { environment: "default", name: "db" }],
  ["prod/db", { environment: "prod", name: "db" }],
  ["prod/", undefined],
  ["a/b/c", undefined],
  ["Db", undefined],
  ["", undefined],
])("%s names a secret, or none", (text, expected) => {
  expect(readReference(text)).toEqual(expected);
});

test("a reference leaves out the environment that is meant without one", () => {
  expect(referenceOf("default", "db")).toBe("db");
  expect(referenceOf("prod", "db")).toBe("prod/db");
});

test("a value is text where it is text, exactly", () => {
  expect(shownValue(btoa("pass word\n"))).toEqual({ text: "pass word\n", isText: true });
  expect(shownValue("w7w=")).toEqual({ text: "ü", isText: true });
  expect(shownValue("77u/YQ==")).toEqual({ text: "\ufeffa", isText: true });
  expect(shownValue("/wA=")).toEqual({ text: "ff00", isText: false });
});

test("bounds of a value", () => {
  expect(valueMistake(0)).not.toBe("");
  expect(valueMistake(1)).toBe("");
  expect(valueMistake(65536)).toBe("");
  expect(valueMistake(65537)).not.toBe("");
});

test("commands name the project where it is not the one that is meant", () => {
  expect(secretCommand("set", "prod/db", "default", ["-"])).toBe("hostler secret set prod/db -");
  expect(secretCommand("rm", "db:2", "lab")).toBe("hostler secret rm db:2 -p lab");
  expect(secretCommand("ls", undefined, "lab")).toBe("hostler secret ls -p lab");
});
