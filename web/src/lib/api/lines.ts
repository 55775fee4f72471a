// Streams taken apart: bytes into lines, lines into server-sent events or JSON documents.

/** Lines of a byte stream, without their ends; the last one counts even if nothing ends it. */
export async function* lines(
  body: ReadableStream<Uint8Array>,
  heard: () => void = () => undefined,
): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      heard();
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const parts = rest.split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) yield part.endsWith("\r") ? part.slice(0, -1) : part;
      if (done) {
        if (rest !== "") yield rest;
        return;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

export interface SseEvent {
  event: string;
  id: string | undefined;
  data: string;
}

/** Server-sent events; comments, which servers send to keep the line open, are dropped. */
export async function* events(source: AsyncIterable<string>): AsyncGenerator<SseEvent> {
  let event = "message";
  let id: string | undefined;
  let data: string[] = [];
  for await (const line of source) {
    if (line === "") {
      if (data.length > 0) yield { event, id, data: data.join("\n") };
      event = "message";
      data = [];
      continue;
    }
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") event = value;
    else if (field === "id") id = value;
    else if (field === "data") data.push(value);
  }
}
