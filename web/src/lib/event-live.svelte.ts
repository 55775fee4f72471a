// Events as they happen, newest first, while somebody looks; held still where that is asked for.

import { asProblem, call, stream } from "./api/http";
import type { EventView, Problem } from "./api/types";
import { follow, type Listing, type WatchStatus } from "./api/watch";
import { EVENTS_KEPT, together } from "./event";

const PAGE = 100;
const GATHER_MS = 80;
/** Each page of a search looks through thousands of events. */
const FIND_PAGES = 20;
const ADDRESS = "/api/v1/events";

type Query = ReturnType<typeof import("./event").eventQuery>;

export class LiveEvents {
  /** `undefined` until the first page is there. */
  items = $state.raw<EventView[]>();
  /** Where older ones go on. */
  next = $state.raw<string>();
  status = $state<WatchStatus>("connecting");
  problem = $state.raw<Problem>();
  /** True once there were more than are kept. */
  isCut = $state(false);
  /** How many have happened since the list is held still. */
  held = $state(0);

  #query: Query | undefined;
  #waiting: EventView[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStill = false;

  /** Returns what ends it. */
  follow(query: Query): () => void {
    const stop = new AbortController();
    this.#query = query;
    this.items = undefined;
    this.next = undefined;
    this.problem = undefined;
    this.#drop();
    void follow<EventView>(
      {
        list: (signal) => this.#page(query, undefined, signal),
        open: (cursor, signal) =>
          stream(ADDRESS, { query: { ...query, watch: true, cursor }, signal }),
      },
      {
        replace: (listing) => {
          this.#drop();
          this.isCut = false;
          this.items = listing.items;
          this.next = listing.nextCursor ?? undefined;
        },
        apply: ({ object }) => {
          if (object) this.#waiting.push(object);
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
      this.#drop();
    };
  }

  /** Shows what happens at once, or only counts it. */
  still(isStill: boolean): void {
    this.#isStill = isStill;
    if (!isStill) this.#show();
  }

  async older(): Promise<void> {
    const query = this.#query;
    if (!query || this.next === undefined) return;
    try {
      const page = await this.#page(query, this.next);
      if (query !== this.#query) return;
      const known = this.items ?? [];
      this.items = together(known, page.items, Infinity);
      this.next = page.nextCursor ?? undefined;
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  #show(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isStill) {
      this.#waiting = this.#waiting.slice(-EVENTS_KEPT);
      this.held = this.#waiting.length;
      return;
    }
    const known = this.items ?? [];
    const all = together(known, this.#waiting, Math.max(EVENTS_KEPT, known.length));
    if (known.length > 0 && all.at(-1) !== known.at(-1)) {
      this.isCut = true;
      this.next = undefined;
    }
    this.items = all;
    this.#waiting = [];
    this.held = 0;
  }

  #drop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting = [];
    this.held = 0;
  }

  /** One event by its number; `undefined` where there is none that may be seen. */
  static async find(sequence: number, signal: AbortSignal): Promise<EventView | undefined> {
    let cursor: string | undefined;
    for (let asked = 0; asked < FIND_PAGES; asked++) {
      const query = { filter: `sequence == ${sequence}`, limit: 1, cursor };
      const page = await call("get", ADDRESS, { query, signal });
      if (page.items[0]) return page.items[0];
      cursor = page.nextCursor ?? undefined;
      if (cursor === undefined) return undefined;
    }
    return undefined;
  }

  #page(
    query: Query,
    cursor: string | undefined,
    signal?: AbortSignal,
  ): Promise<Listing<EventView>> {
    return call("get", ADDRESS, { query: { ...query, limit: PAGE, cursor }, signal });
  }
}
