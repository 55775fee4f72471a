import { expect, test } from "vitest";

import { stackApply, stackCommand, stackCompare, stackList, stackRestore } from "./stack-cli";

test("commands name the project where it is not the usual one, and the approval where there is one", () => {
  expect(stackCommand(["ls"], "default")).toBe("hostler stack ls");
  expect(stackCommand(["rm", "web", undefined], "farm", " 0192 ")).toBe(
    "hostler stack rm web -p farm --approval 0192",
  );
  expect(stackList({ status: "failed", tag: "a b", nested: true, deleted: true }, "default")).toBe(
    "hostler stack ls --status failed --tag 'a b' --nested --deleted",
  );
});

test("applying has a flag for everything that was chosen, and no secret", () => {
  const said = {
    name: "web",
    environment: true,
    parameters: { size: "3" },
    secrets: ["token"],
    isRollbackEnabled: true,
    timeout: "20m",
    tags: ["a", "b"],
    converges: true,
    atOnce: "4",
    driftEvery: "1h",
  };
  expect(stackApply("apply", said, "default")).toBe(
    "hostler stack apply template.yaml --name web -e environment.yaml -P size=3 --parameter-file token=token.txt --rollback --timeout 20m --tag a,b --converge --at-once 4 --drift-every 1h",
  );
  expect(stackApply("apply", { ...said, why: "ticket 4711" }, "default")).toMatch(
    / -m 'ticket 4711'$/,
  );
  const less = { ...said, secrets: [], parameters: {}, isRollbackEnabled: false, tags: undefined };
  expect(stackApply("plan", less, "default")).toContain("-e environment.yaml --no-rollback");
});

test.each([
  ["v2", "now", "hostler stack revision compare web 2"],
  ["v2", "v5", "hostler stack revision compare web 2 5"],
  ["0192f3c4", "now", "hostler stack snapshot compare web 0192f3c4"],
  ["v2", "0192f3c4", undefined],
  ["now", "now", undefined],
])("%s is compared with %s by a command", (from, to, command) => {
  expect(stackCompare("web", from, to, "default")).toBe(command);
});

test("a stack is restored to a revision or a snapshot", () => {
  expect(stackRestore("web", "v3", "default")).toBe("hostler stack revision restore web 3");
  expect(stackRestore("web", "0192", "farm", "a1")).toBe(
    "hostler stack snapshot restore web 0192 -p farm --approval a1",
  );
  expect(stackRestore("web", "v3", "default", "", " back ")).toBe(
    "hostler stack revision restore web 3 -m back",
  );
});
