import { expect, test } from "vitest";

import {
  executionList,
  executionRetry,
  modulePush,
  moduleVerb,
  moduleVersions,
  stepVerb,
  workflowPush,
  workflowRun,
  workflowVerb,
  workflowVersions,
} from "./workflow-cli";

test("commands name the project where it is not the usual one", () => {
  expect(workflowVerb("ls", undefined, "default")).toBe("hostler workflow ls");
  expect(workflowVerb("rm", "nightly clean-up", "farm")).toBe(
    "hostler workflow rm 'nightly clean-up' -p farm",
  );
  expect(workflowVersions("release", "default")).toBe("hostler workflow ls --versions release");
  expect(workflowPush("release.sloth", true, "default")).toBe(
    "hostler workflow push release.sloth --strict",
  );
});

test("modules are pushed by their files, and named where that is not enough", () => {
  expect(modulePush("web.lua", "web", false, "default")).toBe(
    "hostler workflow module push web.lua",
  );
  expect(modulePush("web.lua", "acme.web", true, "farm")).toBe(
    "hostler workflow module push web.lua --name acme.web --strict -p farm",
  );
  expect(moduleVerb("ls", undefined, "default")).toBe("hostler workflow module ls");
  expect(moduleVerb("rm", "web", "default")).toBe("hostler workflow module rm web");
  expect(moduleVersions("web", "default")).toBe("hostler workflow module ls --versions web");
});

test("running has a flag for everything that was chosen", () => {
  expect(workflowRun("release", {}, "", "default")).toBe("hostler workflow run release");
  const body = {
    version: 3,
    values: { tag: "v2" },
    options: { only: ["unit tests"], delegateTo: ["n1", "n2"], secrets: ["prod/db"] },
  };
  expect(workflowRun("release", body, "0192", "default")).toBe(
    "hostler workflow run release --version 3 --values values.json --task 'unit tests'" +
      " --delegate-to n1 --delegate-to n2 --secret prod/db --approval 0192",
  );
});

test("executions and their steps", () => {
  expect(executionList({ page: "executions", project: "default", filter: "has(outcome)" })).toBe(
    "hostler workflow executions --filter 'has(outcome)'",
  );
  expect(executionList({ page: "executions", project: "default", open: false })).toBe(
    "hostler workflow executions",
  );
  expect(
    executionList({ page: "executions", project: "default", workflow: "release", open: true }),
  ).toBe("hostler workflow executions --workflow release --open");
  expect(executionRetry("0192", { from: undefined, uncertain: false }, "default")).toBe(
    "hostler workflow retry 0192",
  );
  expect(executionRetry("0192", { from: "test", uncertain: true }, "default")).toBe(
    "hostler workflow retry 0192 --from test --repeat-uncertain",
  );
  expect(stepVerb("logs", "0192", "unit tests", "default")).toBe(
    "hostler workflow logs 0192 'unit tests'",
  );
});
