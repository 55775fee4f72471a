// The entries of a namespace by key, kept true while somebody looks, and the changes as they are made.

import { asProblem, call, stream } from "./api/http";
import type { Problem, StateChangeView, StateEntryView } from "./api/types";
import { follow, type Listing, type WatchStatus } from "./api/watch";
import { changed, withChange } from "./state";

const PAGE = 100;
const GATHER_MS = 80;
const ADDRESS = "/api/v1/projects/{project}/state/{namespace}";

interface Place {
  project: string;
  namespace: string;
  prefix: string | undefined;
}

export class LiveState {
  /** `undefined` until the first page is there. */
  entries = $state.raw<StateEntryView[]>();
  /** Newest first, since somebody looks. */
  changes = $state.raw<StateChangeView[]>([]);
  next = $state.raw<string>();
  status = $state<WatchStatus>("connecting");
  problem = $state.raw<Problem>();

  #place: Place | undefined;
  #waiting: StateChangeView[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Returns what ends it. */
  follow(place: Place): () => void {
    const stop = new AbortController();
    this.#place = place;
    this.entries = undefined;
    this.changes = [];
    this.next = undefined;
    this.problem = undefined;
    const { project, namespace, prefix } = place;
    const path = { project, namespace };
    void follow<StateEntryView | StateChangeView>(
      {
        list: (signal) => this.#page(place, undefined, signal),
        open: (cursor, signal) =>
          stream(ADDRESS, { path, query: { watch: true, cursor, prefix }, signal }),
      },
      {
        replace: (listing) => {
          this.#waiting = [];
          this.entries = listing.items as StateEntryView[];
          this.next = listing.nextCursor ?? undefined;
        },
        apply: ({ object }) => {
          if (object && "kind" in object) this.#waiting.push(object);
          this.#timer ??= setTimeout(() => this.#show(), GATHER_MS);
        },
        status: (status, error) => {
          if (stop.signal.aborted) return;
          this.status = status;
          this.problem = error === undefined ? undefined : asProblem(error);
        },
      },
      stop.signal,
    );
    return () => {
      stop.abort();
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#waiting = [];
    };
  }

  async more(): Promise<void> {
    const place = this.#place;
    if (!place || this.next === undefined) return;
    try {
      const page = await this.#page(place, this.next);
      if (place !== this.#place) return;
      const held = new Set(this.entries?.map(({ key }) => key));
      this.entries = [...(this.entries ?? []), ...page.items.filter(({ key }) => !held.has(key))];
      this.next = page.nextCursor ?? undefined;
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  #show(): void {
    this.#timer = undefined;
    let { entries = [], changes } = this;
    for (const change of this.#waiting) {
      entries = changed(entries, change, this.next !== undefined);
      changes = withChange(changes, change);
    }
    this.#waiting = [];
    this.entries = entries;
    this.changes = changes;
  }

  #page(
    { project, namespace, prefix }: Place,
    cursor: string | undefined,
    signal?: AbortSignal,
  ): Promise<Listing<StateEntryView>> {
    return call("get", ADDRESS, {
      path: { project, namespace },
      query: { prefix, limit: PAGE, cursor },
      signal,
    });
  }
}
