import { expect, test } from "vitest";

import { isCode } from "./oidc";

const STATE = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

test("what providers give can be copied", () => {
  for (const code of ["r_A1fNKN9RjtlMZ-", "4/0AX4XfWh.x~y", "M.C105.2.U.-Cx!y*z$$", "a+b=="]) {
    expect(isCode(STATE, code), code).toBe(true);
  }
});

test("nothing that a shell would obey is shown to be copied", () => {
  for (const code of [
    "",
    "a b",
    "a\nreboot\n",
    "x;reboot",
    "$(reboot)",
    "`reboot`",
    "a|b",
    "a&b",
  ]) {
    expect(isCode(STATE, code), code).toBe(false);
  }
  for (const state of ["", "s1", `${STATE}x`, STATE.replace("d", ";"), `${STATE}\n`]) {
    expect(isCode(state, "code"), state).toBe(false);
  }
});
