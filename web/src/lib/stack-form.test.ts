import { expect, test } from "vitest";

import { HIDDEN } from "./stack";
import {
  buildForm,
  draftOfStack,
  emptyDraft,
  formToLookAt,
  groupsOf,
  isStackName,
  readParameters,
  TEMPLATE_MAX,
} from "./stack-form";

const SUMMARY = {
  Parameters: {
    size: { Type: "Number", Label: "Size", Description: "How much.", Default: 3, MinValue: 1 },
    zone: { Type: "String", AllowedValues: ["a", "b"] },
    names: { Type: "CommaDelimitedList", Default: ["x", "y"] },
    extra: { Type: "Json", Default: {} },
    token: { Type: "String", NoEcho: "true", Default: "never shown" },
    loud: { Type: "Boolean", Default: false },
  },
  ParameterGroups: [{ label: "Amount", description: "of it", parameters: ["size", "absent"] }],
};
const GROUPS = groupsOf(SUMMARY);

test("a template asks for parameters in its groups, the others last", () => {
  expect(GROUPS.map(({ label, fields }) => [label, fields.map(({ name }) => name)])).toEqual([
    ["Amount", ["size"]],
    ["", ["zone", "names", "extra", "token", "loud"]],
  ]);
  const fields = new Map(GROUPS.flatMap((group) => group.fields).map((one) => [one.name, one]));
  expect(fields.get("size")).toEqual({
    name: "size",
    label: "Size",
    kind: "number",
    note: "How much. 1 at least",
    isHidden: false,
    isRequired: false,
    fallback: "3",
    choices: [],
  });
  expect(fields.get("zone")).toMatchObject({
    kind: "choice",
    choices: ["a", "b"],
    isRequired: true,
  });
  expect(fields.get("names")).toMatchObject({ kind: "list", fallback: "x,y" });
  expect(fields.get("extra")).toMatchObject({ kind: "json", fallback: "{}" });
  expect(fields.get("token")).toMatchObject({ isHidden: true, fallback: "" });
  expect(groupsOf(undefined)).toEqual([]);
});

test("only what differs is sent; what is emptied is forgotten, but for what is hidden", () => {
  const before = { size: "3", zone: "a", names: "x,y" };
  const typed = { size: "5", zone: "", names: "x,y", token: "", extra: '{"a": [1]}' };
  expect(readParameters(GROUPS, typed, before)).toEqual({
    parameters: { size: "5", extra: { a: [1] } },
    cleared: ["zone"],
    mistakes: {},
  });
  expect(readParameters(GROUPS, { token: "t" }).parameters).toEqual({ token: "t" });
});

test("mistakes are told by their parameter", () => {
  const { mistakes, parameters } = readParameters(GROUPS, { size: "many", extra: "{" });
  expect(Object.keys(mistakes)).toEqual(["size", "extra"]);
  expect(parameters).toEqual({});
  for (const size of ["1", "-2.5", " 7 ", "1e3"])
    expect(readParameters(GROUPS, { size }).mistakes).toEqual({});
});

test("a new stack is sent with everything that was said, and nothing that was not", () => {
  const { built } = buildForm(
    {
      ...emptyDraft(),
      name: "web",
      template: "resources: {}",
      typed: { size: "5" },
      files: { "a.yaml": "x" },
      tags: " prod, web ,",
      timeout: "20m",
      atOnce: "4",
      isRollbackEnabled: true,
    },
    GROUPS,
  );
  expect(built).toEqual({
    form: {
      template: "resources: {}",
      files: { "a.yaml": "x" },
      parameters: { size: "5" },
    },
    cleared: [],
    options: { isRollbackEnabled: true, timeout: "20m", tags: ["prod", "web"], atOnce: 4 },
  });
});

test("a change of a stack says only what differs from what there is", () => {
  const options = { tags: ["prod"], driftEvery: "1h", converges: true };
  const template = { heat_template_version: "2018-08-31", resources: {} };
  const parameters = { size: 3, token: HIDDEN, names: ["x", "y"] };
  const before = draftOfStack("web", template, options, parameters);
  expect(before.template).toContain('heat_template_version: "2018-08-31"');
  expect(before.typed).toEqual({ size: "3", names: "x,y" });
  const same = { ...before, typed: { ...before.typed } };
  expect(buildForm(same, GROUPS, before).built).toEqual({ form: {}, cleared: [], options: {} });
  const other = { ...same, driftEvery: "", converges: false, tags: "", typed: { size: "4" } };
  expect(buildForm(other, GROUPS, before).built).toEqual({
    form: { parameters: { size: "4" } },
    cleared: ["names"],
    options: { driftEvery: "0s", converges: false, tags: [] },
  });
});

test("every mistake in the form is told at once", () => {
  const { built, mistakes, parameters } = buildForm(
    {
      ...emptyDraft(),
      name: "1bad",
      timeout: "soon",
      driftEvery: "x",
      atOnce: "0",
      typed: { size: "?" },
    },
    GROUPS,
  );
  expect(built).toBeUndefined();
  expect(Object.keys(mistakes).sort()).toEqual([
    "atOnce",
    "driftEvery",
    "name",
    "template",
    "timeout",
  ]);
  expect(Object.keys(parameters)).toEqual(["size"]);
  const large = { ...emptyDraft(), name: "a", template: "ä".repeat(TEMPLATE_MAX / 2 + 1) };
  expect(buildForm(large, []).mistakes.template).toContain("512 KiB");
});

test.each([
  ["web.prod_1-x", true],
  ["a".repeat(255), true],
  ["a".repeat(256), false],
  ["", false],
  ["-a", false],
  ["a b", false],
  ["ü", false],
])("%s is a name: %s", (name, is) => {
  expect(isStackName(name)).toBe(is);
});

test("a template is looked at with what the stack has, as far as nothing else was typed", () => {
  const known = {
    template: {},
    environment: { parameters: { a: 1 } },
    files: { "old.yaml": "old", "data.json": { x: 1 } },
    createdBy: { kind: "user", name: "ada" },
    timeCreated: "2026-11-19T10:00:00Z",
  } as const;
  const draft = { ...emptyDraft(), template: "t", files: { "old.yaml": "new" } };
  expect(formToLookAt(draft, known)).toEqual({
    template: "t",
    environment: '{"parameters":{"a":1}}',
    files: { "old.yaml": "new", "data.json": '{"x":1}' },
  });
  expect(formToLookAt({ ...draft, environment: "e: 1" }, known).environment).toBe("e: 1");
  expect(formToLookAt({ ...draft, files: {} }, undefined)).toEqual({ template: "t" });
});
