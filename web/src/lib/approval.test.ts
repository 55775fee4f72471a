import { expect, test } from "vitest";

import { APPROVAL_STATES, isOpen, needWords } from "./approval";

test("needs are told with who has to agree", () => {
  const needs = [
    { policy: "eyes", approvals: 2, agreed: 1, by: ["group:ops", "ada"] },
    { policy: "any", approvals: 1, agreed: 0, by: [] },
  ];
  expect(needWords({ needs })).toEqual([
    "1 of 2 agreed (eyes): group:ops, ada",
    "0 of 1 agreed (any): whoever has approval.decide",
  ]);
});

test("only what waits or is approved is open", () => {
  const open = Object.keys(APPROVAL_STATES).filter((state) =>
    isOpen(state as keyof typeof APPROVAL_STATES),
  );
  expect(open).toEqual(["waiting", "approved"]);
});
