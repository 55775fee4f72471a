// Tokens: what is asked for when one is made, and what one is for, in words.

import type { Permission, Role, TokenCreateBody, TokenView } from "./api/types";
import { quoteCommand } from "./argv";
import { isName } from "./fields";
import { namesOf } from "./permissions";
import type { Look } from "./words";

export interface TokenDraft {
  name: string;
  role: Role;
  /** None: in all projects. */
  projects: string[];
  /** `task.submit, task.*`; empty for all that the role allows. */
  can: string;
  /** `10.0.0.0/8, ...`; empty for anywhere. */
  from: string;
  ttl: string;
}

export const TOKEN_SPANS = [
  { value: "1d", word: "1 day" },
  { value: "7d", word: "7 days" },
  { value: "30d", word: "30 days" },
  { value: "90d", word: "90 days" },
  { value: "365d", word: "1 year" },
] as const;

export function tokenMistake({ name }: TokenDraft): string {
  return isName(name.trim()) ? "" : "Use lowercase letters, digits and “-”.";
}

export function tokenBody(draft: TokenDraft, user: string | undefined): TokenCreateBody {
  const { name, role, projects, can, from, ttl } = draft;
  const [cans, ranges] = [namesOf(can), namesOf(from)];
  return {
    name: name.trim(),
    role,
    ttl,
    ...(user !== undefined && { user }),
    ...(projects.length > 0 && { projects }),
    ...(cans.length > 0 && { can: cans }),
    ...(ranges.length > 0 && { from: ranges }),
  };
}

export function tokenCommand(draft: TokenDraft, user: string | undefined): string {
  const body = tokenBody(draft, user);
  const words = ["hostler", "token", "create", body.name || "NAME"];
  if (user !== undefined) words.push("--user", user);
  words.push("--role", draft.role);
  if (body.projects) words.push("--only-project", body.projects.join(","));
  if (body.can) words.push("--can", body.can.join(","));
  if (body.from) words.push("--from", body.from.join(","));
  words.push("--ttl", draft.ttl);
  return quoteCommand(words);
}

export function tokenLook(token: TokenView, now: number): Look {
  if (token.isRevoked) return { word: "Revoked", icon: "stop", tone: "muted" };
  if (token.timeExpires && Date.parse(token.timeExpires) <= now)
    return { word: "Expired", icon: "cross", tone: "muted" };
  return { word: "Valid", icon: "check", tone: "good" };
}

/** `user, in lab and field, for task.submit, from 10.0.0.0/8`. */
export function tokenScope({ role, projects, can, from }: TokenView): string {
  const words: string[] = [role];
  if (projects) words.push(`in ${projects.length > 0 ? projects.join(" and ") : "no project"}`);
  if (can) words.push(`for ${listed(can)}`);
  if (from) words.push(`from ${from.join(", ")}`);
  return words.join(", ");
}

const LISTED = 4;

function listed(can: readonly Permission[]): string {
  const more = can.length - LISTED;
  const first = can.slice(0, LISTED).join(", ");
  return more > 0 ? `${first} and ${more} more` : first || "nothing";
}
