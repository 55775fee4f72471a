// What happens to a stack, newest first, while somebody looks: what is new is asked for again and again,
// from the last event that is known.

import { asProblem, call } from "./api/http";
import type { Problem, StackEventView, StackStatus } from "./api/types";
import type { WatchStatus } from "./api/watch";
import { every } from "./every";
import { DEPTH_MAX } from "./stack";

const PAGE = 100;
const EVERY_MS = 1500;
const ADDRESS = "/api/v1/projects/{project}/stacks/{stack}/events";
/** How many of the newest are kept while somebody looks. */
export const EVENTS_KEPT = 1000;

export interface StackEventFilter {
  resource: string | undefined;
  status: StackStatus | undefined;
}

/** What is new, before what is known; no event twice. */
export function together(
  newer: readonly StackEventView[],
  known: readonly StackEventView[],
): StackEventView[] {
  const seen = new Set(known.map(({ id }) => id));
  return [...newer.filter(({ id }) => !seen.has(id)), ...known];
}

export class StackEvents {
  /** `undefined` until the first page is there. */
  items = $state.raw<StackEventView[]>();
  /** Whether there are older ones. */
  isMore = $state(false);
  status = $state<WatchStatus>("connecting");
  problem = $state.raw<Problem>();

  #path: { project: string; stack: string } | undefined;
  #filter: StackEventFilter = { resource: undefined, status: undefined };

  /** Returns what ends it. */
  follow(project: string, stack: string, filter: StackEventFilter): () => void {
    const path = { project, stack };
    this.#path = path;
    this.#filter = filter;
    this.items = undefined;
    this.isMore = false;
    this.status = "connecting";
    this.problem = undefined;
    return every(EVERY_MS, (signal) => this.#look(path, signal), 0);
  }

  async older(): Promise<void> {
    const [path, last] = [this.#path, this.items?.at(-1)];
    if (!path || !last) return;
    try {
      const query = { ...this.#query(), newest: true, after: last.id };
      const page = await call("get", ADDRESS, { path, query });
      if (path !== this.#path) return;
      const known = new Set((this.items ?? []).map(({ id }) => id));
      this.items = [...(this.items ?? []), ...page.items.filter(({ id }) => !known.has(id))];
      this.isMore = Boolean(page.nextCursor);
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  async #look(path: { project: string; stack: string }, signal: AbortSignal): Promise<void> {
    try {
      const first = this.items?.[0];
      if (this.items === undefined || first === undefined) {
        const query = { ...this.#query(), newest: true };
        const page = await call("get", ADDRESS, { path, query, signal });
        if (signal.aborted) return;
        this.items = page.items;
        this.isMore = Boolean(page.nextCursor);
      } else {
        const query = { ...this.#query(), after: first.id };
        const page = await call("get", ADDRESS, { path, query, signal });
        if (signal.aborted) return;
        const all = together(page.items.toReversed(), this.items);
        if (page.items.length > 0 && all.length > EVENTS_KEPT) {
          this.items = all.slice(0, EVENTS_KEPT);
          this.isMore = true;
        } else if (page.items.length > 0) this.items = all;
      }
      this.status = "live";
      this.problem = undefined;
    } catch (error) {
      if (signal.aborted) return;
      this.status = this.items === undefined ? "failed" : "reconnecting";
      this.problem = asProblem(error);
    }
  }

  #query() {
    return { ...this.#filter, depth: DEPTH_MAX, limit: PAGE };
  }
}
