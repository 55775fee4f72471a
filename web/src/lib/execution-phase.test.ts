import { expect, test } from "vitest";
import type { ExecutionPhaseView } from "./api/types";
import { phaseLook, phaseTook, phaseWord } from "./execution-phase";

const since = "2026-01-01T00:00:00Z";
const now = Date.parse("2026-01-01T00:01:00Z");

function phase(status: string, standing: ExecutionPhaseView["standing"]): ExecutionPhaseView {
  return { phase: "lock", status, standing };
}

test("a phase has a word, and one that nobody knows is shown as it is", () => {
  expect(phaseWord("drift-after")).toBe("Drift after");
  expect(phaseWord("dance")).toBe("dance");
});

test.each([
  ["waiting", "Waiting"],
  ["running", "Running"],
  ["held", "Held"],
  ["released", "Released"],
  ["warned", "Warned"],
  ["failed", "Failed"],
  ["lost", "Lost"],
])("%s is shown as %s", (status, word) => {
  expect(phaseLook(phase(status, "waiting")).word).toBe(word);
});

test("how long it took is told from when it began", () => {
  expect(phaseTook(phase("waiting", "waiting"), now)).toBe("");
  const until = since;
  expect(phaseTook(phase("running", { running: { since, until } }), now)).toBe("1 m 00 s");
  expect(phaseTook(phase("held", { held: { since, renewed: since } }), now)).toBe("1 m 00 s");
  const ended = { since, at: "2026-01-01T00:00:02Z", end: "succeeded" as const };
  expect(phaseTook(phase("succeeded", { ended }), now)).toBe("2.0 s");
});
