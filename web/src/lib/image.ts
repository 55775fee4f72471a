// Versions of images, by image.

import type { ImageView } from "./api/types";

/** Images by name, each with its versions, newest first. */
export function byName(images: readonly ImageView[]): [string, ImageView[]][] {
  const groups = new Map<string, ImageView[]>();
  for (const image of images) groups.set(image.name, [...(groups.get(image.name) ?? []), image]);
  return [...groups].map(([name, versions]) => [
    name,
    versions.toSorted((a, b) => b.version - a.version),
  ]);
}
