import { expect, test } from "vitest";

import type { InvitationView } from "./api/types";
import {
  browserWords,
  invitationBody,
  invitationCommand,
  type InvitationDraft,
  invitationMistake,
  invitationRevoke,
  invitee,
  memberCommand,
  sessionCommand,
} from "./people";

const draft: InvitationDraft = { role: "user", project: "", name: "", email: "", ttl: "3d" };
const made: InvitationView = {
  id: "i1",
  role: "user",
  state: "unused",
  createdBy: "ada",
  timeCreated: "2026-01-31T12:00:00Z",
  timeExpires: "2026-02-03T12:00:00Z",
};

test("an invitation says only what was typed", () => {
  expect(invitationBody(draft)).toEqual({ role: "user", ttl: "3d" });
  const full = { ...draft, project: "lab", name: " ada ", email: "a@b.c" };
  expect(invitationBody(full)).toEqual({ role: "user", ttl: "3d", name: "ada", email: "a@b.c" });
  expect(invitationCommand(full)).toBe(
    "hostler user invite --role user --only-project lab --name ada --email a@b.c --ttl 3d",
  );
  expect(invitationCommand(draft)).toBe("hostler user invite --role user --ttl 3d");
});

test("a name that cannot be is said to be one", () => {
  expect(invitationMistake(draft)).toBe("");
  expect(invitationMistake({ ...draft, name: "ada-1" })).toBe("");
  expect(invitationMistake({ ...draft, name: "Ada L" })).toContain("lowercase");
});

test("for whom an invitation is, and how it is taken back", () => {
  expect(invitee(made)).toBe("whoever has the link");
  expect(invitee({ ...made, email: "a@b.c" })).toBe("a@b.c");
  expect(invitee({ ...made, email: "a@b.c", name: "ada" })).toBe("ada");
  expect(invitationRevoke(made)).toBe("hostler invitation rm i1");
  expect(invitationRevoke({ ...made, project: "lab" })).toBe(
    "hostler invitation rm i1 --only-project lab",
  );
});

test("commands name whose it is", () => {
  expect(sessionCommand(undefined, undefined)).toBe("hostler session rm --all");
  expect(sessionCommand("s1", "ada")).toBe("hostler session rm s1 --user ada");
  expect(memberCommand("lab", "group:ops", "user")).toBe(
    "hostler project grant lab group:ops user",
  );
  expect(memberCommand("lab", "ada", undefined)).toBe("hostler project revoke lab ada");
});

test.each([
  ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"],
  ["Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0 Safari/537.36", "Chrome on Linux"],
  ["Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Windows"],
  ["Mozilla/5.0 (iPhone; CPU OS 18_0 like Mac OS X) Version/18.0 Safari/604.1", "Safari on iOS"],
  ["curl/8.0", "curl/8.0"],
  ["", "unknown browser"],
])("%s", (agent, words) => expect(browserWords(agent)).toBe(words));
