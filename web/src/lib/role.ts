// What the caller's roles allow. It only decides which buttons are worth showing: the server asks
// its own authoriser every time.

import type { Role, WhoamiView } from "./api/types";

const ORDER: readonly Role[] = ["viewer", "user", "operator", "admin"];

function rank(role: Role | null | undefined): number {
  return role === null || role === undefined ? -1 : ORDER.indexOf(role);
}

/** At least this role in the project, or on the whole installation where no project is named. */
export function may(who: WhoamiView | undefined, need: Role, project?: string): boolean {
  if (who === undefined) return false;
  const local = who.projects.find((binding) => binding.project === project)?.role;
  return Math.max(rank(who.role), rank(local)) >= rank(need);
}

/** The strongest role that holds in the project. */
export function roleIn(who: WhoamiView | undefined, project: string | undefined): Role | undefined {
  return ORDER.toReversed().find((role) => may(who, role, project));
}
