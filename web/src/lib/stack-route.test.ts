import { expect, test } from "vitest";

import { formatRoute, parseRoute, type Route } from "./route";

test.each<Route>([
  { page: "stacks", project: "default" },
  { page: "stacks", project: "a b", status: "in-progress", action: "update", tag: "a&b" },
  { page: "stacks", project: "default", nested: true, deleted: true },
  { page: "stacks", project: "default", tab: "dependencies" },
  { page: "stacks", project: "default", stack: "web.prod_1-x" },
  { page: "stacks", project: "web", stack: "shop", tab: "resources", resource: "a/b?", of: "0192" },
  { page: "stacks", project: "web", stack: "shop", tab: "graph", resource: "server" },
  { page: "stacks", project: "web", stack: "shop", tab: "plan", plan: "0192f3c4" },
  { page: "stacks", project: "web", stack: "shop", tab: "history", from: "v3", to: "0192" },
  { page: "stacks", project: "web", stack: "shop", tab: "template", revision: 12 },
])("an address says what is looked at: $project $stack $tab", (route) => {
  expect(parseRoute(formatRoute(route))).toEqual(route);
});

test("what an address cannot mean is left out of it", () => {
  const head = "#/projects/default/stacks";
  const base = { page: "stacks", project: "default" };
  expect(parseRoute(`${head}?status=well&action=dance&tab=lock&nested=no`)).toEqual(base);
  expect(parseRoute(`${head}/shop?tab=overview&of=x&to=v2&revision=0`)).toEqual({
    ...base,
    stack: "shop",
  });
  expect(parseRoute(`${head}/shop?tab=nothing&status=failed`)).toEqual({ ...base, stack: "shop" });
});
