import { expect, test } from "vitest";

import type { ImageView } from "./api/types";
import { imageVerb } from "./cli";
import { byName } from "./image";

function image(name: string, version: number): ImageView {
  return {
    id: `${name}-${version}`,
    name,
    version,
    reference: `hostler://${name}:${version}`,
    digest: "0".repeat(64),
    size: 1,
    origin: "file",
    createdBy: { kind: "user", name: "ann" },
    timeCreated: "2026-01-01T00:00:00Z",
  };
}

test("versions stand below their image, newest first", () => {
  const shown = byName([image("a", 1), image("b", 2), image("a", 10), image("a", 9)]);
  expect(shown.map(([name, versions]) => [name, versions.map(({ version }) => version)])).toEqual([
    ["a", [10, 9, 1]],
    ["b", [2]],
  ]);
  expect(byName([])).toEqual([]);
});

test("what the command line would say", () => {
  expect(imageVerb("sync", image("train", 3))).toBe("hostler image sync train:3 --all");
  expect(imageVerb("rm", image("train", 3))).toBe("hostler image rm train:3");
});
