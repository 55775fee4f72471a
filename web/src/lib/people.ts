// People and how they come in: invitations, accounts, sessions; in words and as commands.

import type {
  InvitationCreateBody,
  InvitationState,
  InvitationView,
  Role,
  UserView,
} from "./api/types";
import { quoteCommand } from "./argv";
import { isName } from "./fields";
import type { Look } from "./words";

export const INVITATION_LOOKS: Record<InvitationState, Look> = {
  unused: { word: "Open", icon: "clock", tone: "wait" },
  used: { word: "Used", icon: "check", tone: "good" },
  expired: { word: "Expired", icon: "cross", tone: "muted" },
  revoked: { word: "Revoked", icon: "stop", tone: "muted" },
};

export const USER_LOOKS = {
  enabled: { word: "Enabled", icon: "check", tone: "good" },
  disabled: { word: "Disabled", icon: "stop", tone: "muted" },
} as const satisfies Record<string, Look>;

export function userLook({ isDisabled }: Pick<UserView, "isDisabled">): Look {
  return isDisabled ? USER_LOOKS.disabled : USER_LOOKS.enabled;
}

export const INVITATION_SPANS = [
  { value: "1h", word: "1 hour" },
  { value: "1d", word: "1 day" },
  { value: "3d", word: "3 days" },
  { value: "7d", word: "7 days" },
  { value: "30d", word: "30 days" },
] as const;

export interface InvitationDraft {
  role: Role;
  /** Empty: on the whole installation. */
  project: string;
  name: string;
  email: string;
  ttl: string;
}

/** What is wrong with it, in words; empty where nothing is. */
export function invitationMistake({ name }: InvitationDraft): string {
  return name.trim() === "" || isName(name.trim()) ? "" : "Use lowercase letters, digits and “-”.";
}

export function invitationBody({ role, name, email, ttl }: InvitationDraft): InvitationCreateBody {
  return {
    role,
    ttl,
    ...(name.trim() && { name: name.trim() }),
    ...(email.trim() && { email: email.trim() }),
  };
}

export function invitationCommand({ role, project, name, email, ttl }: InvitationDraft): string {
  const words = ["hostler", "user", "invite", "--role", role];
  if (project) words.push("--only-project", project);
  if (name.trim()) words.push("--name", name.trim());
  if (email.trim()) words.push("--email", email.trim());
  words.push("--ttl", ttl);
  return quoteCommand(words);
}

export function invitationRevoke({ id, project }: InvitationView): string {
  const scope = project ? ["--only-project", project] : [];
  return quoteCommand(["hostler", "invitation", "rm", id, ...scope]);
}

/** `ada`, or for whom it is otherwise known to be. */
export function invitee({ name, email }: InvitationView): string {
  return name ?? (email ? email : "whoever has the link");
}

type UserVerb = "get" | "disable" | "enable" | "reset" | "totp-reset" | "rm";

export function userCommand(verb: UserVerb, user: string): string {
  return quoteCommand(["hostler", "user", verb, user]);
}

export function userRole(user: string, role: string): string {
  return quoteCommand(["hostler", "user", "role", user, role]);
}

export function sessionCommand(id: string | undefined, user: string | undefined): string {
  const whose = user === undefined ? [] : ["--user", user];
  return quoteCommand(["hostler", "session", "rm", id ?? "--all", ...whose]);
}

export function memberCommand(project: string, who: string, role: string | undefined): string {
  const verb = role === undefined ? "revoke" : "grant";
  return quoteCommand(["hostler", "project", verb, project, who, ...(role ? [role] : [])]);
}

const BROWSERS: readonly [RegExp, string][] = [
  [/\bEdg(e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\bChrom(e|ium)\/|\bHeadlessChrome\/|\bCriOS\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];
const SYSTEMS: readonly [RegExp, string][] = [
  [/\bAndroid\b/, "Android"],
  [/\biPhone\b|\biPad\b/, "iOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bLinux\b|\bX11\b/, "Linux"],
];

/** `Firefox on Linux`; what a browser says about itself where that is not known. */
export function browserWords(agent: string): string {
  const find = (list: readonly [RegExp, string][]): string | undefined =>
    list.find(([pattern]) => pattern.test(agent))?.[1];
  const [browser, system] = [find(BROWSERS), find(SYSTEMS)];
  if (browser && system) return `${browser} on ${system}`;
  return browser ?? system ?? (agent || "unknown browser");
}

export function isFound(user: UserView, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return [user.name, user.role ?? "", user.kind].some((word) => word.includes(wanted));
}
