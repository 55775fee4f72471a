import { expect, test } from "vitest";

import { ApiError } from "./http";
import { events, lines } from "./lines";
import { pauseLength } from "./pause";
import { follow, type Listing, type Source, type WatchMessage } from "./watch";

interface Thing {
  id: string;
}

function body(...chunks: string[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(encoder.encode(chunk));
      controller.close();
    },
  });
}

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of source) found.push(item);
  return found;
}

function gone(status: number): ApiError {
  return new ApiError({
    type: "about:blank",
    title: "",
    status,
    detail: "",
    code: "cursor-gone",
    hint: "",
    requestId: "",
  });
}

function sse(message: WatchMessage<Thing>): string {
  return `event: ${message.type}\nid: ${message.cursor}\ndata: ${JSON.stringify(message)}\n\n`;
}

/** Follows a script of answers and writes down everything that happens. */
async function record(answers: (Response | Error)[], lists: Listing<Thing>[]): Promise<string[]> {
  const log: string[] = [];
  const stop = new AbortController();
  const source: Source<Thing> = {
    list: async () => {
      log.push("list");
      const next = lists.shift();
      if (next === undefined) throw new Error("no more lists");
      return next;
    },
    open: async (cursor) => {
      log.push(`open ${cursor}`);
      const next = answers.shift();
      if (answers.length === 0) stop.abort();
      if (next instanceof Response) return next;
      throw next;
    },
  };
  await follow(
    source,
    {
      replace: (listing) => log.push(`replace ${listing.items.map((item) => item.id).join()}`),
      apply: (message) => log.push(`${message.type} ${message.object?.id ?? message.id}`),
      status: (status) => log.push(status),
    },
    stop.signal,
    async () => undefined,
  );
  return log;
}

test("lines and events come whole, however the bytes are cut", async () => {
  expect(await all(lines(body("a\nb", "c\r\n", "\nd")))).toEqual(["a", "bc", "", "d"]);
  const text = [": hello\n\nevent: ADDED\nid: 7\nda", "ta: {\ndata: }\n\n", "data: cut off"];
  expect(await all(events(lines(body(...text))))).toEqual([
    { event: "ADDED", id: "7", data: "{\n}" },
  ]);
});

test("a dropped stream is taken up from the last cursor, bookmarks included", async () => {
  const first = body(
    sse({ type: "ADDED", cursor: "11", object: { id: "x" } }),
    sse({ type: "BOOKMARK", cursor: "15" }),
  );
  const log = await record(
    [new Response(first), new Error("network"), new Response(body())],
    [{ items: [{ id: "a" }], watchCursor: "10" }],
  );
  expect(log).toEqual([
    "connecting",
    "list",
    "replace a",
    "open 10",
    "live",
    "ADDED x",
    "open 15",
    "reconnecting",
    "open 15",
    "live",
  ]);
});

test("a cursor that is gone means listing again", async () => {
  const log = await record(
    [gone(410), new Response(body())],
    [
      { items: [{ id: "a" }], watchCursor: "1" },
      { items: [{ id: "b" }], watchCursor: "9" },
    ],
  );
  expect(log).toEqual([
    "connecting",
    "list",
    "replace a",
    "open 1",
    "list",
    "replace b",
    "open 9",
    "live",
  ]);
});

test.each([400, 403, 422])("a refusal that will not heal, %i, ends the watch", async (status) => {
  const log = await record([gone(status), new Response(body())], [{ items: [], watchCursor: "1" }]);
  expect(log).toEqual(["connecting", "list", "replace ", "open 1", "failed"]);
});

test("pauses grow and stay bounded", () => {
  expect(pauseLength(0, 1)).toBe(400);
  expect(pauseLength(3, 1)).toBe(3200);
  expect(pauseLength(1000, 1)).toBe(15_000);
  expect(pauseLength(1000, 0)).toBe(7500);
});
