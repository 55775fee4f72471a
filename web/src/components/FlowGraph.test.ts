import { render } from "svelte/server";
import { expect, test } from "vitest";

import { STEPS_DRAWN } from "../lib/graph";
import { statusLook } from "../lib/workflow";
import FlowGraph from "./FlowGraph.svelte";

const address = (step: string): string => `#/${step}`;
const steps = [
  { name: "build" },
  { name: "test", dependsOn: ["build"] },
  { name: "alarm", afterFailureOf: ["test"] },
];

function drawn(props: object): string {
  return render(FlowGraph, {
    props: { label: "Graph of release", steps, chosen: undefined, address, ...props },
  }).body;
}

test("a definition has a link for every step, and no state", () => {
  const body = drawn({});
  expect(body.match(/<a /g)).toHaveLength(3);
  expect(body).toContain('href="#/test"');
  expect(body).toContain('aria-label="test"');
  expect(body).toContain("dashed line");
  expect(body).not.toContain("style=");
});

test("an execution says of every step how it stands, in words too", () => {
  const looks = { build: statusLook("succeeded"), test: statusLook("failed") };
  const body = drawn({ looks, chosen: "test" });
  expect(body).toContain('aria-label="build: Succeeded"');
  expect(body).toContain('aria-label="test: Failed"');
  expect(body.match(/aria-current="true"/g)).toHaveLength(1);
});

test("too many steps are not drawn", () => {
  const many = Array.from({ length: STEPS_DRAWN + 1 }, (_, i) => ({ name: `s${i}` }));
  const body = drawn({ steps: many });
  expect(body).toContain("too many to draw");
  expect(body).not.toContain("<a ");
});
