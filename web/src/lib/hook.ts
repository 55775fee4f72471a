// Event hooks: how deliveries stand, what a form means, and the commands that do the same.

import {
  bareCommand,
  buildWork,
  emptyWork,
  type WorkDraft,
  type WorkKind,
  type WorkMistakes,
} from "./action";
import type {
  DeliveryState,
  DeliveryView,
  EventHookSpec,
  HookAction,
  HookView,
  WebhookFormat,
} from "./api/types";
import { quoteCommand } from "./argv";
import { isName } from "./fields";
import type { Look } from "./words";

export const DELIVERY_STATES: Record<DeliveryState, Look> = {
  queued: { word: "Queued", icon: "clock", tone: "wait" },
  ready: { word: "Ready", icon: "arrow", tone: "wait" },
  performing: { word: "Performing", icon: "play", tone: "busy" },
  following: { word: "Following", icon: "play", tone: "busy" },
  done: { word: "Done", icon: "check", tone: "good" },
  dead: { word: "Dead letter", icon: "cross", tone: "bad" },
};
export const DELIVERY_STATE_KINDS = Object.keys(DELIVERY_STATES) as DeliveryState[];

export function hookLook({ isEnabled }: HookView): Look {
  return isEnabled
    ? { word: "Enabled", icon: "check", tone: "good" }
    : { word: "Disabled", icon: "pause", tone: "muted" };
}

/** Those that are not over: they wait, or are under way. */
export function openOf({ deliveries }: HookView): number {
  const open = ["queued", "ready", "performing", "following"];
  return open.reduce((sum, state) => sum + (deliveries[state] ?? 0), 0);
}

/** `task.failed web`, of the event that is delivered. */
export function eventWords({ event }: DeliveryView): string {
  const given = event as { kind?: unknown; object?: { name?: unknown; id?: unknown } } | null;
  const kind = typeof given?.kind === "string" ? given.kind : "event";
  const name = given?.object?.name || given?.object?.id;
  return typeof name === "string" && name !== "" ? `${kind} ${name}` : kind;
}

export type HookKind = WorkKind | "webhook" | "lua";
export const HOOK_KINDS: Record<HookKind, string> = {
  webhook: "tell an address",
  task: "submit a task",
  workflow: "carry out a workflow",
  lua: "call a function in a Lua file",
  workload: "start, stop or restart a workload",
};
export const FORMATS: Record<WebhookFormat, string> = {
  event: "the event as JSON",
  slack: "for Slack, Mattermost and the like",
  email: "for a relay that sends e-mail",
  plain: "one line of text",
  template: "a template of your own",
};
export const LUA_EXAMPLE = `function on_event(event)
    log.info(event.kind .. " " .. event.object.name)
    return true
end
`;

export interface HookDraft {
  name: string;
  description: string;
  /** With commas or blanks between them. */
  on: string;
  filter: string;
  kind: HookKind;
  work: WorkDraft;
  url: string;
  urlSecret: string;
  format: WebhookFormat;
  template: string;
  to: string;
  sign: string;
  bearer: string;
  lua: string;
  /** Of a hook of the whole installation: where it acts. */
  actsIn: string;
}

export type HookMistakes = Partial<
  Record<"name" | "on" | "url" | "template" | "to" | "lua" | "actsIn", string>
> &
  WorkMistakes;

/** An empty form, or one that says which events another hook takes. */
export function hookDraft(from: HookView | undefined, project: string): HookDraft {
  return {
    name: from?.name ?? "",
    description: from?.spec.description ?? "",
    on: from?.spec.on.join(", ") ?? "",
    filter: from?.spec.filter ?? "",
    kind: "webhook",
    work: emptyWork(),
    url: "",
    urlSecret: "",
    format: "event",
    template: "",
    to: "",
    sign: "",
    bearer: "",
    lua: LUA_EXAMPLE,
    actsIn: from?.spec.project ?? project,
  };
}

/** What the form means, or every mistake in it. With `from`, what is done stays as it is. */
export function buildHook(
  draft: HookDraft,
  isGlobal: boolean,
  from?: EventHookSpec,
): { spec?: EventHookSpec; mistakes: HookMistakes } {
  const mistakes: HookMistakes = {};
  if (!isName(draft.name.trim())) mistakes.name = "Use 1 to 63 lowercase letters, digits or “-”.";
  const on = words(draft.on);
  if (on.length === 0) mistakes.on = "Say which events: task.failed, task.*, or * for all.";
  const actsIn = draft.actsIn.trim();
  if (isGlobal && !isName(actsIn)) mistakes.actsIn = "Say in which project it acts.";
  const action = from ? from.action : actionOf(draft, mistakes);
  if (Object.keys(mistakes).length > 0 || !action) return { mistakes };
  const [description, filter] = [draft.description.trim(), draft.filter.trim()];
  const spec: EventHookSpec = {
    ...from,
    on,
    action,
    ...(isGlobal && { project: actsIn }),
  };
  delete spec.description;
  delete spec.filter;
  if (description) spec.description = description;
  if (filter) spec.filter = filter;
  return { spec, mistakes };
}

function actionOf(draft: HookDraft, mistakes: HookMistakes): HookAction | undefined {
  if (draft.kind === "lua") {
    if (draft.lua.trim() === "") mistakes.lua = "Write a function on_event(event).";
    return { lua: { file: `${draft.name.trim() || "hook"}.lua`, text: draft.lua } };
  }
  if (draft.kind !== "webhook") {
    const built = buildWork(draft.kind, draft.work);
    Object.assign(mistakes, built.mistakes);
    return built.action;
  }
  const url = draft.url.trim();
  const [urlSecret, sign, bearer] = [draft.urlSecret, draft.sign, draft.bearer].map((one) =>
    one.trim(),
  );
  if (!urlSecret && !/^https?:\/\/./.test(url))
    mistakes.url = "An address begins with https:// or http://; or name a secret that has it.";
  const { format, template } = draft;
  const to = words(draft.to);
  if (format === "template" && template.trim() === "") mistakes.template = "Write what is sent.";
  if (format === "email" && to.length === 0) mistakes.to = "Say to whom.";
  return {
    webhook: {
      ...(urlSecret ? { urlSecret } : { url }),
      ...(format !== "event" && { format }),
      ...(format === "template" && { template }),
      ...(format === "email" && { to }),
      ...(sign && { sign }),
      ...(bearer && { bearer }),
    },
  };
}

function words(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}

export type HookVerb =
  "ls" | "show" | "rm" | "enable" | "disable" | "test" | "log" | "dead" | "replay";

/** `project` is absent for hooks of the whole installation. */
export function hookCommand(
  verb: HookVerb,
  hook: string | undefined,
  project: string | undefined,
  more: readonly string[] = [],
): string {
  const all = ["hostler", "hook", verb, ...(hook ? [hook] : []), ...scopeOf(project), ...more];
  return quoteCommand(all);
}

function scopeOf(project: string | undefined): string[] {
  if (project === undefined) return ["--global"];
  return project === "default" ? [] : ["-p", project];
}

/** The command that makes the same; a file where flags do not say it all. */
export function hookAdd(
  name: string,
  spec: EventHookSpec,
  project: string | undefined,
  isChange = false,
): string {
  const head = ["hostler", "hook", "add", name, ...scopeOf(project)];
  const action = isChange ? undefined : actionWords(spec.action);
  if (action === undefined) return quoteCommand([...head, "--file", `${name}.yaml`]);
  if (project === undefined && spec.project) head.push("--acts-in", spec.project);
  head.push("--on", spec.on.join(","));
  if (spec.filter) head.push("--filter", spec.filter);
  if (spec.description) head.push("--description", spec.description);
  return quoteCommand([...head, ...action]);
}

function actionWords(action: HookAction): string[] | undefined {
  if ("webhook" in action) {
    const { url, urlSecret, format, to, sign, bearer } = action.webhook;
    const all = urlSecret ? ["--webhook-secret", urlSecret] : ["--webhook", url ?? ""];
    if (format === "template") all.push("--template", "FILE");
    else if (format) all.push("--format", format);
    if (to && to.length > 0) all.push("--to", to.join(","));
    if (sign) all.push("--sign", sign);
    if (bearer) all.push("--bearer", bearer);
    return all;
  }
  if ("lua" in action) return ["--lua", action.lua.file];
  if ("workflow" in action)
    return action.workflow.values === undefined ? ["--workflow", action.workflow.name] : undefined;
  if ("task" in action) {
    const command = bareCommand(action);
    return command && ["--", ...command];
  }
  return undefined;
}
