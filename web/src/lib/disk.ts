// What disks say about themselves, in words.

import type { DiskHealthFact } from "./api/types";
import { degrees } from "./words";

/** It is time to think of another. */
export function isWorn(disk: DiskHealthFact): boolean {
  return (
    (disk.lifeUsed ?? 0) >= 90 ||
    disk.spare === "warning" ||
    disk.spare === "urgent" ||
    disk.state === "dead"
  );
}

/** `nvme0 (Samsung 980): 12 % of its life used, spare blocks normal, 41 °C`. */
export function diskWords(disk: DiskHealthFact): string {
  const parts: string[] = [];
  if (typeof disk.lifeUsed === "number") parts.push(`${disk.lifeUsed} % of its life used`);
  if (disk.spare) parts.push(`spare blocks ${disk.spare}`);
  if (disk.state && disk.state !== "live") parts.push(disk.state);
  if (typeof disk.celsius === "number") parts.push(degrees(disk.celsius));
  const model = disk.model ? ` (${disk.model})` : "";
  return `${disk.device}${model}: ${parts.join(", ") || "says nothing"}`;
}
