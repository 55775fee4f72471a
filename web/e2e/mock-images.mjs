// What the mock does with images.

const DAY_MS = 86_400_000;

function image(name, version, gib, days, origin) {
  return {
    id: `0192f3c4-0000-7000-8000-${String(version).padStart(12, name === "train" ? "1" : "2")}`,
    name,
    version,
    reference: `hostler://${name}:${version}`,
    digest: String(version).repeat(64),
    size: gib * 2 ** 30,
    origin,
    createdBy: { kind: "user", name: "admin" },
    timeCreated: new Date(Date.now() - days * DAY_MS).toISOString(),
  };
}

const IMAGES = [
  image("serve", 1, 0.4, 12, "a stream"),
  image("train", 1, 1.2, 30, "file with team/train:1"),
  image("train", 2, 1.25, 9, "file with team/train:2"),
  image("train", 3, 1.31, 1, "container hostler-0192f3c4 of node stall-1"),
];

export const IMAGE_ROUTES = [["GET", /^\/api\/v1\/images$/, "any", () => ({ items: IMAGES })]];
