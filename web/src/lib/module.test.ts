import { expect, test } from "vitest";

import { isModuleName, moduleWords, stemOf, textsOf } from "./module";

test("names are those that the server takes", () => {
  for (const name of ["web", "acme.web", "a_b-c.2"]) expect(isModuleName(name)).toBe(true);
  for (const name of ["", ".web", "web.", "a..b", "a/b", "web@3", "wéb", "x".repeat(129)])
    expect(isModuleName(name)).toBe(false);
  expect(stemOf("acme.web.lua")).toBe("acme.web");
  expect(stemOf("web")).toBe("web");
});

test("modules are told by name and version", () => {
  expect(moduleWords(undefined)).toBe("");
  expect(
    moduleWords([
      { name: "web", version: 3 },
      { name: "note", version: 1 },
    ]),
  ).toBe("web@3, note@1");
});

test("texts begin with the main one, and those of modules are among them", () => {
  const files = { "lib/x.lua": "x", "web@3//": "web.lua", "web@3//web.lua": "w" };
  expect(textsOf({ name: "main.sloth", text: "m", files })).toEqual([
    ["main.sloth", "m"],
    ["lib/x.lua", "x"],
    ["web@3//web.lua", "w"],
  ]);
  expect(textsOf({ name: "main.sloth", text: "m" })).toEqual([["main.sloth", "m"]]);
});
