// A list that stays true while somebody looks at it. Changes are gathered for a moment and shown
// together, so that a thousand tasks a second cost a few paints and not a thousand.

import { asProblem } from "./api/http";
import type { Problem } from "./api/types";
import {
  follow,
  type Listing,
  type Source,
  type WatchMessage,
  type WatchStatus,
} from "./api/watch";

interface Item {
  id: string;
  generation: number;
}

const GATHER_MS = 80;

export class LiveList<T extends Item> {
  items = $state.raw<T[]>([]);
  status = $state<WatchStatus>("connecting");
  problem = $state.raw<Problem>();
  next = $state<string>();
  /** True once there was more than is kept. */
  isCut = $state(false);
  /** False until the first list has come. */
  isLoaded = $state(false);

  #held = new Map<string, T>();
  #stop: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  #wants: (item: T) => boolean = () => true;

  /** What comes last in the order goes first when there are more than `most`. */
  constructor(
    private readonly compare: (a: T, b: T) => number,
    private readonly most = Infinity,
  ) {}

  /** Follows the source; returns what ends it. */
  follow(source: Source<T>): () => void {
    this.#stop?.abort();
    const stop = new AbortController();
    this.#stop = stop;
    this.isLoaded = false;
    this.problem = undefined;
    this.#wants = source.wants?.bind(source) ?? (() => true);
    void follow(
      source,
      {
        replace: (listing) => this.#replace(listing),
        apply: (message) => this.#apply(message),
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
    };
  }

  /** Takes an object that an answer brought, before the watch brings it too. */
  put(item: T): void {
    const held = this.#held.get(item.id);
    if (held && held.generation > item.generation) return;
    this.#held.set(item.id, item);
    this.#show();
  }

  drop(id: string): void {
    this.#held.delete(id);
    this.#show();
  }

  /** Takes what a new list says about objects; what appears and disappears is the watch's to say. */
  refresh(items: T[]): void {
    for (const item of items) {
      const held = this.#held.get(item.id);
      if (held && held.generation <= item.generation) this.#held.set(item.id, item);
    }
    this.#show();
  }

  /** Adds an older page. */
  extend(listing: Listing<T>): void {
    for (const item of listing.items) if (!this.#held.has(item.id)) this.#held.set(item.id, item);
    this.next = listing.nextCursor ?? undefined;
    this.#show();
  }

  #replace(listing: Listing<T>): void {
    this.#held = new Map(listing.items.map((item) => [item.id, item]));
    this.next = listing.nextCursor ?? undefined;
    this.isLoaded = true;
    this.isCut = false;
    this.#show();
  }

  #apply(message: WatchMessage<T>): void {
    const { object } = message;
    const id = message.id ?? object?.id;
    if (message.type === "DELETED") {
      if (id) this.#held.delete(id);
    } else if (object) {
      const held = this.#held.get(object.id);
      const isNews = held ? held.generation <= object.generation : this.#wants(object);
      if (isNews) this.#held.set(object.id, object);
    }
    this.#timer ??= setTimeout(() => this.#show(), GATHER_MS);
  }

  #show(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const items = [...this.#held.values()].sort(this.compare);
    for (const { id } of items.splice(this.most)) {
      this.#held.delete(id);
      this.isCut = true;
      this.next = undefined;
    }
    this.items = items;
  }
}
