import { render } from "svelte/server";
import { expect, test } from "vitest";

import { groupsOf } from "../lib/stack-form";
import StackParameters from "./StackParameters.svelte";

const groups = groupsOf({
  Parameters: {
    size: { Type: "Number", Label: "Size", Default: 3 },
    zone: { Type: "String", AllowedValues: ["north", "south"] },
    token: { Type: "String", NoEcho: "true", Default: "in the template" },
    extra: { Type: "Json" },
    names: { Type: "CommaDelimitedList" },
  },
  ParameterGroups: [{ label: "Amount", parameters: ["size"] }],
});

function shown(props: object): string {
  return render(StackParameters, { props: { groups, typed: {}, ...props } }).body;
}

test("every parameter has a labelled field of its kind", () => {
  const body = shown({});
  expect(body.match(/<label/g)).toHaveLength(5);
  expect(body).toContain("Amount");
  expect(body).toContain("Other parameters");
  expect(body).toContain('inputmode="decimal"');
  expect(body).toContain('placeholder="3"');
  expect(body).toContain(">south</option>");
  expect(body).toContain("<textarea");
  expect(body).toContain('type="password"');
  expect(body).toContain("with commas between them");
  expect(body).not.toContain("in the template");
  expect(body).not.toContain("style=");
});

test("a mistake stands at its field and is told to screen readers", () => {
  const body = shown({ mistakes: { size: "This is no number." } });
  expect(body).toContain("This is no number.");
  expect(body.match(/aria-invalid="true"/g)).toHaveLength(1);
  const described = /aria-invalid="true" aria-describedby="([^"]+)"/.exec(body)?.[1];
  expect(body).toContain(`id="${described}"`);
});

test("where a stack is changed, nothing is needed and secrets stay", () => {
  expect(shown({ isChange: true })).toContain("stays as it is");
  expect(shown({ isChange: true })).not.toContain("(needed)");
  expect(shown({})).toContain("(needed)");
});
