import { expect, test } from "vitest";

import { auditExport, auditSearch, formOf, isNarrowed, rawItems, routeOf } from "./audit";

test("what is typed becomes an address, and comes back from it", () => {
  const form = { ...formOf({}), actor: " ada ", kind: "node", since: "2026-01-31T12:00" };
  const route = routeOf(form);
  expect(route).toMatchObject({ page: "audit", actor: "ada", kind: "node" });
  expect(route.since).toBe(new Date("2026-01-31T12:00").toISOString());
  expect(formOf(route)).toEqual({ ...form, actor: "ada" });
});

test("what is empty or no kind is not in the address", () => {
  expect(routeOf(formOf({}))).toEqual({ page: "audit" });
  expect(routeOf({ ...formOf({}), kind: "horse", until: "soon" })).toEqual({ page: "audit" });
  expect(isNarrowed({ page: "audit" })).toBe(false);
  expect(isNarrowed({ page: "audit", text: "x" })).toBe(true);
});

test("the command that asks the same", () => {
  expect(auditSearch({})).toBe("hostler audit ls");
  expect(auditSearch({ filter: "sequence > 7" })).toBe(
    "hostler audit search --filter 'sequence > 7'",
  );
  expect(auditSearch({ text: "out of memory", actor: "ada", kind: "task" })).toBe(
    "hostler audit search 'out of memory' --actor ada --kind task",
  );
  expect(auditExport(undefined)).toBe("hostler audit export > audit.jsonl");
  expect(auditExport("2026-01-31T12:00:00.000Z")).toContain("--since 2026-01-31T12:00:00.000Z");
});

test("items leave exactly as they came", () => {
  const first = '{"sequence":18446744073709551615,"detail":{"items":[1,{"a":"]}\\"{"}]},"f":1.0}';
  const second = '{ "sequence": 2 }';
  const text = `{"note":[{"no":1}],"items":[${first}, ${second}],"nextCursor":"items"}`;
  expect(rawItems(text)).toEqual([first, second]);
  expect(rawItems('{"items":[],"nextCursor":null}')).toEqual([]);
});
