import { expect, test } from "vitest";

import type { TokenView } from "./api/types";
import {
  tokenBody,
  tokenCommand,
  type TokenDraft,
  tokenLook,
  tokenMistake,
  tokenScope,
} from "./tokens";

const draft: TokenDraft = {
  name: "laptop",
  role: "user",
  projects: [],
  can: "",
  from: "",
  ttl: "90d",
};
const token: TokenView = {
  id: "t1",
  name: "laptop",
  user: "ada",
  role: "user",
  isRevoked: false,
  timeCreated: "2026-01-31T12:00:00Z",
  timeExpires: "2026-02-01T12:00:00Z",
};

test("a token is narrowed only by what was typed", () => {
  expect(tokenBody(draft, undefined)).toEqual({ name: "laptop", role: "user", ttl: "90d" });
  const narrow = { ...draft, projects: ["lab"], can: "task.submit, task.read", from: "10.0.0.0/8" };
  expect(tokenBody(narrow, "ci")).toEqual({
    name: "laptop",
    role: "user",
    ttl: "90d",
    user: "ci",
    projects: ["lab"],
    can: ["task.submit", "task.read"],
    from: ["10.0.0.0/8"],
  });
  expect(tokenCommand(narrow, "ci")).toBe(
    "hostler token create laptop --user ci --role user --only-project lab --can task.submit,task.read --from 10.0.0.0/8 --ttl 90d",
  );
});

test("a name that cannot be is said to be one", () => {
  expect(tokenMistake(draft)).toBe("");
  expect(tokenMistake({ ...draft, name: "" })).not.toBe("");
});

test("how a token stands", () => {
  const at = (time: string): number => Date.parse(time);
  expect(tokenLook(token, at("2026-01-31T13:00:00Z")).word).toBe("Valid");
  expect(tokenLook(token, at("2026-02-01T12:00:00Z")).word).toBe("Expired");
  expect(tokenLook({ ...token, isRevoked: true }, 0).word).toBe("Revoked");
});

test("what a token is for", () => {
  expect(tokenScope(token)).toBe("user");
  expect(tokenScope({ ...token, projects: ["lab", "field"], from: ["::1"] })).toBe(
    "user, in lab and field, from ::1",
  );
  expect(
    tokenScope({
      ...token,
      projects: [],
      can: ["task.read", "task.kill", "task.pause", "task.retry", "task.submit"],
    }),
  ).toBe("user, in no project, for task.read, task.kill, task.pause, task.retry and 1 more");
});
