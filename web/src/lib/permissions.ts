// Roles as a table of permissions: what there is, by kind of object, and what a role has of it.

import type { Permission, RoleView } from "./api/types";
import { quoteCommand } from "./argv";

export interface PermissionGroup {
  object: string;
  permissions: Permission[];
}

/** Every permission that some role has or that is chosen, by object; in the order that the server has them. */
export function groupsOf(
  roles: readonly RoleView[],
  more: Iterable<Permission> = [],
): PermissionGroup[] {
  const known = new Set<Permission>([...fullest(roles), ...roles.flatMap(all), ...more]);
  const groups = new Map<string, Permission[]>();
  for (const permission of known) {
    const object = objectOf(permission);
    groups.set(object, [...(groups.get(object) ?? []), permission]);
  }
  return [...groups].map(([object, permissions]) => ({ object, permissions }));
}

// The role that has most says the order.
function fullest(roles: readonly RoleView[]): Permission[] {
  return roles.map(all).reduce((most, next) => (next.length > most.length ? next : most), []);
}

function all({ permissions }: RoleView): Permission[] {
  return permissions;
}

export function objectOf(permission: Permission): string {
  return permission.slice(0, permission.indexOf("."));
}

export function verbOf(permission: Permission): string {
  return permission.slice(permission.indexOf(".") + 1);
}

/** What was chosen, with `object.*` where a whole group is: so that the words stay short. */
export function shortened(
  chosen: ReadonlySet<Permission>,
  groups: readonly PermissionGroup[],
): string[] {
  return groups.flatMap(({ object, permissions }) => {
    const own = permissions.filter((one) => chosen.has(one));
    return own.length > 1 && own.length === permissions.length ? [`${object}.*`] : own;
  });
}

export function roleCreate(name: string, can: readonly string[], description: string): string {
  const words = [
    "hostler",
    "role",
    "create",
    name || "NAME",
    "--can",
    can.join(",") || "PERMISSION",
  ];
  if (description) words.push("--description", description);
  return quoteCommand(words);
}

/** What is new is added, what is gone is taken away. */
export function roleEdit(
  role: RoleView,
  chosen: ReadonlySet<Permission>,
  description: string,
): string {
  const added = [...chosen].filter((one) => !role.permissions.includes(one));
  const removed = role.permissions.filter((one) => !chosen.has(one));
  const words = ["hostler", "role", "edit", role.name];
  if (added.length > 0) words.push("--add", added.join(","));
  if (removed.length > 0) words.push("--remove", removed.join(","));
  if (description !== role.description) words.push("--description", description);
  return quoteCommand(words);
}

export function groupCommand(
  verb: "create" | "show" | "add" | "remove" | "rm",
  group: string,
  users: readonly string[] = [],
): string {
  return quoteCommand(["hostler", "group", verb, group, ...users]);
}

/** Names that were typed with commas, spaces or lines between them. */
export function namesOf(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((name) => name !== ""))];
}
