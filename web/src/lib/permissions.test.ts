import { expect, test } from "vitest";

import type { Permission, RoleView } from "./api/types";
import { groupsOf, namesOf, roleCreate, roleEdit, shortened } from "./permissions";

function role(name: string, permissions: Permission[]): RoleView {
  return { name, description: "", isBuiltIn: false, permissions, generation: 1 };
}

const admin = role("admin", ["task.read", "task.kill", "node.read", "node.drain"]);
const own = role("own", ["token.read", "task.read"]);

test("permissions are grouped by object, in the order of the role that has most", () => {
  expect(groupsOf([own, admin])).toEqual([
    { object: "task", permissions: ["task.read", "task.kill"] },
    { object: "node", permissions: ["node.read", "node.drain"] },
    { object: "token", permissions: ["token.read"] },
  ]);
  expect(groupsOf([], ["audit.read"])).toEqual([{ object: "audit", permissions: ["audit.read"] }]);
});

test("a whole group is written with a star, one permission never", () => {
  const groups = groupsOf([own, admin]);
  const chosen = new Set<Permission>(["task.read", "task.kill", "node.read", "token.read"]);
  expect(shortened(chosen, groups)).toEqual(["task.*", "node.read", "token.read"]);
  expect(shortened(new Set(), groups)).toEqual([]);
});

test("commands that make and change a role", () => {
  expect(roleCreate("deployer", ["task.*", "node.read"], "")).toBe(
    "hostler role create deployer --can 'task.*,node.read'",
  );
  expect(roleEdit(own, new Set<Permission>(["task.read", "task.kill"]), "of mine")).toBe(
    "hostler role edit own --add task.kill --remove token.read --description 'of mine'",
  );
});

test("names are taken apart however they were typed", () => {
  expect(namesOf(" ada, grace\nada  eve")).toEqual(["ada", "grace", "eve"]);
  expect(namesOf(" ")).toEqual([]);
});
