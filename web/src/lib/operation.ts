// Operations: how they stand, what came of them, and where they are shown.

import type { BackupTrouble, OperationState, OperationView } from "./api/types";
import type { Route } from "./route";
import type { Look } from "./words";

export const OPERATION_STATES: Record<OperationState, Look> = {
  pending: { word: "Pending", icon: "clock", tone: "wait" },
  running: { word: "Running", icon: "play", tone: "busy" },
  succeeded: { word: "Succeeded", icon: "check", tone: "good" },
  failed: { word: "Failed", icon: "cross", tone: "bad" },
  cancelled: { word: "Cancelled", icon: "stop", tone: "muted" },
};

export function isOver({ state }: Pick<OperationView, "state">): boolean {
  return state !== "pending" && state !== "running";
}

/** What was told of it. */
export function operationRoute(id: string, project: string): Route {
  return { page: "events", project, isGlobal: true, object: "operation", id };
}

/** Paths that its steps name: what would be different, or could not be done. */
export function pathsOf(
  { steps }: Pick<OperationView, "steps">,
  key: "changes" | "troubles",
): BackupTrouble[] {
  return steps.flatMap(({ result }) => {
    const found = (result as Partial<Record<string, unknown>> | null | undefined)?.[key];
    return Array.isArray(found) ? found.filter(isOfPath) : [];
  });
}

function isOfPath(one: unknown): one is BackupTrouble {
  return typeof one === "object" && one !== null && "path" in one;
}
