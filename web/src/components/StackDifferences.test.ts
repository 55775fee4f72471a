import { render } from "svelte/server";
import { expect, test } from "vitest";

import type { StackResourceChange } from "../lib/api/types";
import StackDifferences from "./StackDifferences.svelte";

function shown(props: {
  resources: StackResourceChange[];
  parameters?: { name: string; before?: unknown; after?: unknown; isSecret?: boolean }[];
}): string {
  return render(StackDifferences, { props }).body;
}

test("what changes is told with every value, in words as well as in colours", () => {
  const body = shown({
    resources: [
      { name: "net", kind: "T", change: "unchanged" },
      {
        name: "disk",
        path: ["group"],
        kind: "T",
        change: "replace",
        isUncertain: true,
        reason: "it cannot grow",
        properties: [{ name: "size", before: 1, after: 2, replaces: true }],
      },
    ],
  });
  expect(body).toContain("group/disk");
  expect(body).toContain("Replace");
  expect(body).toContain("perhaps");
  expect(body).toContain("it cannot grow");
  expect(body).toContain("replaces the object");
  expect(body).toContain("before:");
  expect(body).toContain("after:");
  expect(body).not.toContain("net");
  expect(body).not.toContain("style=");
});

test("secrets are hidden, even where they were sent", () => {
  const body = shown({
    resources: [],
    parameters: [{ name: "token", before: "old-one", after: "new-one", isSecret: true }],
  });
  expect(body).toContain("******");
  expect(body).not.toMatch(/old-one|new-one/);
});

test("long lists are cut, and say how much is left", () => {
  const resources = Array.from({ length: 250 }, (_, at) => ({
    name: `r${at}`,
    kind: "T",
    change: "create" as const,
  }));
  const body = shown({ resources });
  expect(body).toContain("r199");
  expect(body).not.toContain("r200");
  expect(body).toContain("Show more (50)");
});
