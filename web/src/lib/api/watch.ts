// Keeping a list true: list it, then follow what changes from the list's own cursor.
//
// A dropped stream is taken up again from the last cursor seen, so that nothing is missed; when the
// server says that the cursor is gone (410) the list is read anew. Refusals that will not heal by
// themselves (400, 401, 403, 404, 422) end the watch; everything else is tried again, for ever, with growing
// pauses. A stream on which nothing is heard for a while, not even a keep-alive, counts as dropped.

import { ApiError } from "./http";
import { events, lines } from "./lines";
import { pause } from "./pause";

export interface WatchMessage<T> {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  cursor: string;
  object?: T | null;
  id?: string | null;
}

export interface Listing<T> {
  items: T[];
  nextCursor?: string | null;
  watchCursor?: string | null;
}

export type WatchStatus = "connecting" | "live" | "reconnecting" | "failed";

export interface Source<T> {
  list(signal: AbortSignal): Promise<Listing<T>>;
  open(cursor: string, signal: AbortSignal): Promise<Response>;
  /** Whether something that was not listed is worth keeping; everything is where this is absent. */
  wants?(item: T): boolean;
}

export interface Sink<T> {
  replace(listing: Listing<T>): void;
  apply(message: WatchMessage<T>): void;
  status(status: WatchStatus, error?: unknown): void;
}

const QUIET_MS = 60_000;
const LASTING = new Set([400, 401, 403, 404, 422]);

/** Follows until the signal says stop, or the server says that this will never work. */
export async function follow<T>(
  source: Source<T>,
  sink: Sink<T>,
  signal: AbortSignal,
  wait: (attempt: number, signal: AbortSignal) => Promise<void> = pause,
): Promise<void> {
  let cursor: string | undefined;
  let attempt = 0;
  sink.status("connecting");
  while (!signal.aborted) {
    try {
      if (cursor === undefined) {
        const listing = await source.list(signal);
        sink.replace(listing);
        cursor = listing.watchCursor ?? undefined;
      }
      if (cursor !== undefined) {
        for await (const message of messages<T>(source, cursor, signal, () =>
          sink.status("live"),
        )) {
          cursor = message.cursor;
          attempt = 0;
          if (message.type !== "BOOKMARK") sink.apply(message);
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      const status = error instanceof ApiError ? error.status : 0;
      if (LASTING.has(status)) {
        sink.status("failed", error);
        return;
      }
      if (status === 410) cursor = undefined;
      else sink.status("reconnecting", error);
    }
    if (!signal.aborted) await wait(attempt++, signal);
  }
}

async function* messages<T>(
  source: Source<T>,
  cursor: string,
  signal: AbortSignal,
  opened: () => void,
): AsyncGenerator<WatchMessage<T>> {
  const line = new AbortController();
  const stop = (): void => line.abort();
  signal.addEventListener("abort", stop);
  let timer = setTimeout(stop, QUIET_MS);
  const heard = (): void => {
    clearTimeout(timer);
    timer = setTimeout(stop, QUIET_MS);
  };
  try {
    const response = await source.open(cursor, line.signal);
    opened();
    if (!response.body) return;
    for await (const event of events(lines(response.body, heard))) {
      const message = JSON.parse(event.data) as WatchMessage<T>;
      yield { ...message, cursor: message.cursor ?? event.id ?? cursor };
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    line.abort();
  }
}
