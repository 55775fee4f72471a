// What the caller may do, as `whoami` tells it. It only decides which buttons are worth showing: the
// server asks its own authoriser every time.

import type { Permission, Role, WhoamiView } from "./api/types";

const ORDER: readonly Role[] = ["viewer", "user", "operator", "admin"];

// What everybody who is logged in may do is in nobody's list.
const EVERYBODYS: ReadonlySet<Permission> = new Set<Permission>([
  "approval.withdraw",
  "image.read",
  "password.change",
  "role.read",
  "session.end",
  "session.read",
  "token.create",
  "token.read",
  "token.revoke",
]);

/** In the project of this id, or on the whole installation where none is named. */
export function can(
  who: WhoamiView | undefined,
  permission: Permission,
  project?: string,
): boolean {
  if (who === undefined) return false;
  if (EVERYBODYS.has(permission) || who.permissions?.includes(permission)) return true;
  return holds(who, permission, (id) => id === project);
}

/** In any project at least. */
export function canSomewhere(who: WhoamiView | undefined, permission: Permission): boolean {
  return can(who, permission) || (who !== undefined && holds(who, permission, () => true));
}

/** What one may do to objects of one's own, and to those of others only with another permission. */
export interface Ownership {
  own: Permission;
  others: Permission;
  owner: string | null | undefined;
}

export function canTouch(
  who: WhoamiView | undefined,
  { own, others, owner }: Ownership,
  project?: string,
): boolean {
  return can(who, own, project) && (owner === who?.name || can(who, others, project));
}

/** The strongest built-in role that holds in the project. */
export function roleIn(who: WhoamiView | undefined, project: string | undefined): Role | undefined {
  const local = who?.projects.find((one) => one.project === project)?.role;
  return ORDER.toReversed().find((role) => role === who?.role || role === local);
}

/** What somebody is in a project, in a word or two. */
export function roleWord(who: WhoamiView | undefined, project: string | undefined): string {
  const role = roleIn(who, project);
  if (role !== undefined) return role;
  const local = who?.projects.find((one) => one.project === project);
  const isAnything = [who?.permissions, local?.permissions].some((set) => set && set.length > 0);
  return isAnything ? "custom role" : "no role";
}

/** The built-in roles up to the one held, which are those that can be given to others. */
export function rolesUpTo(role: Role | null | undefined): Role[] {
  return role ? ORDER.slice(0, ORDER.indexOf(role) + 1) : [];
}

function holds(
  who: WhoamiView,
  permission: Permission,
  isMeant: (project: string) => boolean,
): boolean {
  return who.projects.some(
    ({ project, permissions }) => isMeant(project) && (permissions?.includes(permission) ?? false),
  );
}
