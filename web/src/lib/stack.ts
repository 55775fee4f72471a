// Stacks in words: how they and their resources stand, what a change would do, what has drifted.

import type {
  LockDetailView,
  StackAction,
  StackChangeKind,
  StackChanges,
  StackCheckResult,
  StackDriftItem,
  StackDriftKind,
  StackGraphView,
  StackResourceAction,
  StackResourceView,
  StackStanding,
  StackStatus,
  StackValueChange,
  StackView,
} from "./api/types";
import type { GraphStep } from "./graph";
import type { Look } from "./words";

/** What hidden values are shown as. */
export const HIDDEN = "******";
/** How deep stacks may lie in one another. */
export const DEPTH_MAX = 5;

type Action = StackAction | StackResourceAction;

const ACTIONS: Record<Action, readonly [verb: string, doing: string, done: string]> = {
  init: ["Beginning", "Waiting", "Waiting"],
  create: ["Create", "Creating", "Created"],
  update: ["Update", "Updating", "Updated"],
  delete: ["Delete", "Deleting", "Deleted"],
  rollback: ["Rollback", "Rolling back", "Rolled back"],
  suspend: ["Suspend", "Suspending", "Suspended"],
  resume: ["Resume", "Resuming", "Resumed"],
  adopt: ["Take over", "Taking over", "Taken over"],
  snapshot: ["Snapshot", "Taking a snapshot", "Snapshot taken"],
  check: ["Check", "Checking", "Checked"],
  restore: ["Restore", "Restoring", "Restored"],
};

const ENDS: Partial<Record<Action, Pick<Look, "icon" | "tone">>> = {
  delete: { icon: "trash", tone: "muted" },
  rollback: { icon: "repeat", tone: "wait" },
  suspend: { icon: "pause", tone: "muted" },
};

/** A word that is not known here is shown as it is. */
function words(action: string): readonly [verb: string, doing: string, done: string] {
  return ACTIONS[action as Action] ?? [action, action, action];
}

export function actionVerb(action: string): string {
  return words(action)[0];
}

/** How something stands to which something was done. */
export function standLook(action: string, status: StackStatus): Look {
  const [verb, doing, done] = words(action);
  if (status === "in-progress") return { word: doing, icon: "play", tone: "busy" };
  if (status === "failed") return { word: `${verb} failed`, icon: "cross", tone: "bad" };
  return { word: done, ...(ENDS[action as Action] ?? { icon: "check", tone: "good" }) };
}

export function stackLook({ standing, timeDeleted }: StackView): Look {
  if (timeDeleted) return { word: "Gone", icon: "trash", tone: "muted" };
  return standLook(standing.action, standing.status);
}

export function isUnderWay({ standing }: { standing: StackStanding }): boolean {
  return standing.status === "in-progress";
}

export function resourceLook({
  action,
  status,
  hook,
}: Pick<StackResourceView, "action" | "status" | "hook">): Look {
  if (hook) return { word: `Waits at ${hook}`, icon: "pause", tone: "wait" };
  if (action === "init" && status !== "failed")
    return { word: "Waiting", icon: "clock", tone: "muted" };
  return standLook(action, status);
}

export interface StackProgress {
  all: number;
  done: number;
  busy: number;
  failed: number;
  /** At hooks, or before their turn. */
  waiting: number;
}

export function progressOf(resources: readonly StackResourceView[]): StackProgress {
  const found = { all: resources.length, done: 0, busy: 0, failed: 0, waiting: 0 };
  for (const { action, status, hook, underWay } of resources) {
    if (hook) found.waiting += 1;
    else if (underWay || status === "in-progress") found.busy += 1;
    else if (status === "failed") found.failed += 1;
    else if (action === "init") found.waiting += 1;
    else found.done += 1;
  }
  return found;
}

/** `9 of 12 resources are done: 2 in hand, 1 failed`. */
export function progressWords({ all, done, busy, failed, waiting }: StackProgress): string {
  const said = [
    [busy, "in hand"],
    [waiting, "waiting"],
    [failed, "failed"],
  ] as const;
  const more = said.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  const what = all === 1 ? "1 resource is" : `${all.toLocaleString("en")} resources are`;
  return `${done.toLocaleString("en")} of ${what} done${more.length > 0 ? `: ${more.join(", ")}` : ""}`;
}

export interface TreeRow {
  resource: StackResourceView;
  /** 0 at the top. */
  level: number;
  hasBelow: boolean;
}

/**
 * Resources of a stack with those of the stacks below it, each below the resource that its stack is. What
 * is wanted is shown with everything that it lies in; what is closed hides what lies in it.
 */
export function treeRows(
  resources: readonly StackResourceView[],
  top: string,
  isClosed: (id: string) => boolean,
  isWanted: (resource: StackResourceView) => boolean = () => true,
): TreeRow[] {
  const of = new Map<string, StackResourceView[]>();
  for (const one of resources) {
    const known = of.get(one.stackId);
    if (known) known.push(one);
    else of.set(one.stackId, [one]);
  }
  const rows = (stack: string, level: number): TreeRow[] =>
    (of.get(stack) ?? []).flatMap((resource) => {
      const child = level < DEPTH_MAX ? resource.child : undefined;
      const below = child && child !== stack ? rows(child, level + 1) : [];
      if (below.length === 0 && !isWanted(resource)) return [];
      const row = { resource, level, hasBelow: below.length > 0 };
      return [row, ...(isClosed(resource.id) ? [] : below)];
    });
  return rows(top, 0);
}

/** Resources as steps of a graph: each comes after those that it needs. */
export function graphOf({ nodes, edges }: StackGraphView): GraphStep[] {
  const needs = new Map<string, string[]>(nodes.map(({ name }) => [name, []]));
  for (const { from, to } of edges) needs.get(from)?.push(to);
  return nodes.map(({ name }) => ({ name, dependsOn: needs.get(name) ?? [] }));
}

/** A value as it is shown: text as it is, everything else as JSON. */
export function valueWords(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Before and after, in words; what is hidden stays so. */
export function differenceWords(change: StackValueChange): { before?: string; after?: string } {
  const { before, after, isSecret, isUnknown } = change;
  const shown = (value: unknown): string =>
    isSecret ? HIDDEN : typeof value === "string" && value !== "" ? value : JSON.stringify(value);
  return {
    ...(before !== undefined && { before: shown(before) }),
    ...(isUnknown
      ? { after: "known when it is done" }
      : after !== undefined && { after: shown(after) }),
  };
}

export const CHANGES: Record<StackChangeKind, Look> = {
  create: { word: "Create", icon: "arrow", tone: "good" },
  adopt: { word: "Take over", icon: "plug", tone: "good" },
  update: { word: "Change", icon: "repeat", tone: "busy" },
  replace: { word: "Replace", icon: "alert", tone: "wait" },
  delete: { word: "Remove", icon: "trash", tone: "bad" },
  forget: { word: "Forget", icon: "stop", tone: "muted" },
  unchanged: { word: "As it is", icon: "check", tone: "muted" },
  impossible: { word: "Impossible", icon: "cross", tone: "bad" },
};

const COUNTED: readonly (readonly [StackChangeKind, string])[] = [
  ["create", "to create"],
  ["adopt", "to take over"],
  ["update", "to change"],
  ["replace", "to replace"],
  ["delete", "to remove"],
  ["forget", "to forget"],
  ["impossible", "that cannot be done"],
  ["unchanged", "as they are"],
];

/** `2 to create, 1 to change, 3 as they are`; empty where there are no resources. */
export function changesWords(changes: Pick<StackChanges, "resources">): string {
  return COUNTED.map(([kind, word]) => {
    const count = changes.resources.filter(({ change }) => change === kind).length;
    return count > 0 ? `${count.toLocaleString("en")} ${word}` : "";
  })
    .filter((said) => said !== "")
    .join(", ");
}

/** Whether a plan has nothing to do. */
export function isNothing({ action, resources, parameters, outputs }: StackChanges): boolean {
  return (
    action !== "create" &&
    action !== "adopt" &&
    resources.every(({ change }) => change === "unchanged") &&
    !parameters?.length &&
    !outputs?.length
  );
}

export function isImpossible({ resources }: StackChanges): boolean {
  return resources.some(({ change }) => change === "impossible");
}

/** Where something lies: `group/3/server`. */
export function lies({ path, name }: { path?: readonly string[] | null; name: string }): string {
  return [...(path ?? []), name].join("/");
}

export const DRIFTS: Record<StackDriftKind, Look> = {
  "in-sync": { word: "In sync", icon: "check", tone: "good" },
  configuration: { word: "Configuration", icon: "repeat", tone: "wait" },
  missing: { word: "Missing", icon: "cross", tone: "bad" },
  extra: { word: "Extra", icon: "plug", tone: "wait" },
  state: { word: "Not well", icon: "alert", tone: "bad" },
  dependency: { word: "Dependency", icon: "arrow", tone: "wait" },
  unknown: { word: "Unknown", icon: "question", tone: "odd" },
};

export function isDrift({ drift }: Pick<StackDriftItem, "drift">): boolean {
  return drift !== "in-sync" && drift !== "unknown";
}

export const CHECKS: Record<StackCheckResult, Look> = {
  passed: { word: "Passed", icon: "check", tone: "good" },
  failed: { word: "Failed", icon: "cross", tone: "bad" },
  skipped: { word: "Skipped", icon: "arrow", tone: "muted" },
};

/** The hold of the lock that is one's own, if there is one. */
export function ownHold(
  lock: LockDetailView | undefined,
  name: string | undefined,
): LockDetailView["holders"][number] | undefined {
  return name === undefined ? undefined : lock?.holders.find(({ by }) => by === name);
}

type Document = Record<string, unknown>;

function sectionOf(document: unknown, ...names: string[]): Document {
  if (typeof document !== "object" || document === null) return {};
  const found = names.map((name) => (document as Document)[name]).find(Boolean);
  return typeof found === "object" && found !== null ? (found as Document) : {};
}

/** Names of the parameters that a template declares and does not hide. */
export function openOf(template: unknown): Set<string> {
  const isHidden = (schema: unknown): boolean => {
    const { hidden, NoEcho } = (schema ?? {}) as { hidden?: unknown; NoEcho?: unknown };
    return !/^(false)?$/i.test(String(hidden ?? NoEcho ?? ""));
  };
  const parameters = Object.entries(sectionOf(template, "parameters", "Parameters"));
  return new Set(parameters.filter(([, schema]) => !isHidden(schema)).map(([name]) => name));
}

/** An environment without the values of all parameters but these. */
export function concealed(environment: unknown, open: ReadonlySet<string>): unknown {
  if (typeof environment !== "object" || environment === null) return environment;
  const without = (values: unknown): unknown =>
    typeof values !== "object" || values === null
      ? values
      : Object.fromEntries(
          Object.entries(values).map(([name, value]) => [name, open.has(name) ? value : HIDDEN]),
        );
  const sections = Object.entries(environment).map(([name, section]) =>
    name === "parameters" || name === "parameter_defaults"
      ? [name, without(section)]
      : [name, section],
  );
  return Object.fromEntries(sections) as unknown;
}

const OF_ENVIRONMENTS = ["parameters", "parameter_defaults"];
const OF_TEMPLATES = [
  "heat_template_version",
  "HeatTemplateFormatVersion",
  "AWSTemplateFormatVersion",
];

/**
 * Whether a text gives values to parameters, as an environment does and a template does not. Such a text may
 * have secrets in it that nobody has taken out.
 */
export function givesValues(text: string): boolean {
  const has = (names: readonly string[]): boolean =>
    names.some((name) => new RegExp(`(^|[{,\\s])["']?${name}["']?\\s*:`).test(text));
  return has(OF_ENVIRONMENTS) && !has(OF_TEMPLATES);
}

export type StackVerb = "update" | "check" | "suspend" | "resume" | "cancel" | "delete";

/** What can be done with a stack as it stands. One that is a resource of another changes with that. */
export function verbsOf({ standing, parent, timeDeleted }: StackView): StackVerb[] {
  if (parent || timeDeleted) return [];
  const { action, status } = standing;
  const isBusy = status === "in-progress";
  if (action === "delete") return isBusy ? [] : ["delete"];
  if (action === "suspend") {
    if (isBusy) return ["delete"];
    return status === "failed"
      ? ["resume", "suspend", "check", "delete"]
      : ["resume", "check", "delete"];
  }
  if (!isBusy) return ["update", "check", "suspend", "delete"];
  const canCancel = action === "create" || action === "update";
  return ["update", ...(canCancel ? (["cancel"] as const) : []), "delete"];
}
