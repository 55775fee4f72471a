import { expect, test } from "vitest";

import type { Permission, WhoamiView } from "./api/types";
import { can, canSomewhere, canTouch, roleIn, rolesUpTo, roleWord } from "./role";

function who(more: Partial<WhoamiView>): WhoamiView {
  return { id: "p1", name: "ada", kind: "user", permissions: [], projects: [], ...more };
}

const local = who({
  projects: [{ project: "one", role: "operator", permissions: ["task.submit", "task.kill"] }],
});
const custom = who({ projects: [{ project: "one", permissions: ["task.read"] }] });

test.each<[string, WhoamiView | undefined, Permission, string | undefined, boolean]>([
  ["held in the project", local, "task.submit", "one", true],
  ["held in another project", local, "task.submit", "two", false],
  ["held in a project, asked of the installation", local, "task.submit", undefined, false],
  ["not held", local, "node.cordon", "one", false],
  ["held everywhere", who({ permissions: ["task.kill"] }), "task.kill", "two", true],
  ["everybody's", who({}), "token.create", undefined, true],
  ["nobody is here", undefined, "token.create", undefined, false],
  ["a project that is not known", local, "task.submit", "", false],
])("%s", (_, caller, permission, project, expected) => {
  expect(can(caller, permission, project)).toBe(expected);
});

test("somewhere is any project, or everywhere", () => {
  expect(canSomewhere(local, "task.kill")).toBe(true);
  expect(canSomewhere(local, "task.retry")).toBe(false);
  expect(canSomewhere(who({ permissions: ["task.retry"] }), "task.retry")).toBe(true);
  expect(canSomewhere(undefined, "task.kill")).toBe(false);
});

test("what is another's needs another permission, and the first one as well", () => {
  const kill = { own: "task.kill", others: "task.manage" } as const;
  expect(canTouch(local, { ...kill, owner: "ada" }, "one")).toBe(true);
  expect(canTouch(local, { ...kill, owner: "eve" }, "one")).toBe(false);
  expect(canTouch(local, { ...kill, owner: null }, "one")).toBe(false);
  const both = who({ permissions: ["task.kill", "task.manage"] });
  expect(canTouch(both, { ...kill, owner: "eve" }, "one")).toBe(true);
  const manager = who({ permissions: ["task.manage"] });
  expect(canTouch(manager, { ...kill, owner: "eve" }, "one")).toBe(false);
  expect(canTouch(undefined, { ...kill, owner: undefined }, "one")).toBe(false);
});

test("the role that is shown is the strongest that holds", () => {
  expect(roleIn(local, "one")).toBe("operator");
  expect(roleIn(local, "two")).toBeUndefined();
  expect(roleIn(who({ role: "viewer" }), "two")).toBe("viewer");
  expect(roleIn({ ...local, role: "user" }, "one")).toBe("operator");
  expect(roleWord(custom, "one")).toBe("custom role");
  expect(roleWord(custom, "two")).toBe("no role");
  expect(roleWord(local, "one")).toBe("operator");
});

test("roles that can be given end with one's own", () => {
  expect(rolesUpTo("operator")).toEqual(["viewer", "user", "operator"]);
  expect(rolesUpTo(undefined)).toEqual([]);
});
