// The audit trail: what narrows it, how it is asked for, and how it leaves the page.

import { type AuditRoute, OBJECT_KINDS } from "./access-route";
import type { AuditView } from "./api/types";
import { quoteCommand } from "./argv";

type Narrowing = Omit<AuditRoute, "page">;
export type AuditForm = { [K in keyof Required<Narrowing>]: string };

/** What the form shows for an address; moments are shown in the browser's own time. */
export function formOf(route: Narrowing): AuditForm {
  const { actor = "", action = "", kind = "", object = "", source = "", text = "" } = route;
  const { filter = "" } = route;
  const [since, until] = [localOf(route.since), localOf(route.until)];
  return { actor, action, kind, object, source, since, until, text, filter };
}

/** The address for what was typed; what is empty is not in it. */
export function routeOf(form: AuditForm): AuditRoute {
  const route: AuditRoute = { page: "audit" };
  for (const key of ["actor", "action", "object", "source", "text", "filter"] as const) {
    const value = form[key].trim();
    if (value !== "") route[key] = value;
  }
  const kind = OBJECT_KINDS.find((one) => one === form.kind);
  const [since, until] = [momentOf(form.since), momentOf(form.until)];
  return {
    ...route,
    ...(kind && { kind }),
    ...(since && { since }),
    ...(until && { until }),
  };
}

export function isNarrowed(route: AuditRoute): boolean {
  return Object.keys(routeOf(formOf(route))).length > 1;
}

const NARROWINGS = [
  "actor",
  "action",
  "kind",
  "object",
  "source",
  "since",
  "until",
  "filter",
] as const;

export function auditSearch(route: Narrowing): string {
  const words = ["hostler", "audit", "search"];
  if (route.text) words.push(route.text);
  for (const key of NARROWINGS) {
    const value = route[key];
    if (value) words.push(`--${key}`, value);
  }
  return quoteCommand(words.length > 3 ? words : ["hostler", "audit", "ls"]);
}

export function auditExport(since: string | undefined): string {
  const words = ["hostler", "audit", "export", ...(since ? ["--since", since] : [])];
  return `${quoteCommand(words)} > audit.jsonl`;
}

/** `task web`, or the id where there is no name. */
export function objectWords({ object }: AuditView): string {
  return `${object.kind} ${object.name || object.id}`;
}

/**
 * The items of a listing, each as it stands in the answer. What is kept elsewhere to be verified must
 * not go through numbers of ours: they would round what is greater than 2^53.
 */
export function rawItems(text: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let key: string | undefined;
  let isInItems = false;
  let from = -1;
  for (let at = 0; at < text.length; at++) {
    const mark = text[at];
    if (mark === '"') {
      const end = endOfString(text, at);
      if (depth === 1) key = text.slice(at + 1, end);
      at = end;
    } else if (mark === "{" || mark === "[") {
      if (depth === 1 && mark === "[" && key === "items") isInItems = true;
      if (depth === 2 && isInItems) from = at;
      depth += 1;
    } else if (mark === "}" || mark === "]") {
      depth -= 1;
      if (depth === 2 && isInItems && from >= 0) items.push(text.slice(from, at + 1));
      if (depth === 1) isInItems = false;
    }
  }
  return items;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}

/** What a field for date and time holds, as a moment. */
function momentOf(local: string): string | undefined {
  const time = Date.parse(local);
  return local === "" || Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

function localOf(moment: string | undefined): string {
  const time = Date.parse(moment ?? "");
  if (Number.isNaN(time)) return "";
  const minutes = new Date(time).getTimezoneOffset();
  return new Date(time - minutes * 60_000).toISOString().slice(0, 16);
}
