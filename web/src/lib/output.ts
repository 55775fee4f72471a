// Output as lines to look at: bytes decoded per stream, terminal control dropped, bounded.
//
// Chunks end anywhere, in the middle of a line or of a character: each stream of each node has its
// own decoder and its own unfinished line. A workload's lines come from several nodes and runs: each
// node has a cursor of its own, all of them together say where to go on, and marks say where runs
// begin and end. When more than the bound is held the oldest lines go, and the view
// says so; the command line still has all of it.

import type { LogLine, OutputStream, WorkloadLogLine } from "./api/types";

export interface OutputLine {
  id: number;
  kind: OutputStream | "gap" | "mark";
  text: string;
  /** Where several nodes are told apart. */
  node: string;
  time: string;
}

export const LINES_KEPT = 3000;

interface Channel {
  node: string;
  decoder: TextDecoder;
  open: OutputLine | undefined;
  raw: string;
}

/* eslint-disable no-control-regex -- control characters are what is being looked for */
const CONTROL =
  /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[@-Z\\-_]/g;
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;
/* eslint-enable no-control-regex */

export class Output {
  lines: OutputLine[] = [];
  dropped = 0;
  #next = 0;
  #cursors = new Map<string, string>();
  #channels = new Map<string, Channel>();

  /** Where to go on: the newest cursor, of every node where cursors name theirs. */
  get cursor(): string | undefined {
    return this.#cursors.size === 0 ? undefined : [...this.#cursors.values()].join(",");
  }

  take(line: LogLine | WorkloadLogLine): void {
    if ("cursor" in line)
      this.#cursors.set(/^[^=]*(?==)/.exec(line.cursor)?.[0] ?? "", line.cursor);
    const node = ("node" in line && line.node) || "";
    if (line.type === "data") {
      this.#data(line.stream, node, line.time, line.data);
    } else if (line.type === "gap" || line.type === "mark") {
      for (const channel of this.#channels.values())
        if (channel.node === node) channel.open = undefined;
      const time = ("time" in line && line.time) || "";
      this.lines.push({ id: this.#next++, kind: line.type, text: line.detail, node, time });
    }
    const excess = this.lines.length - LINES_KEPT;
    if (excess > 0) {
      this.lines.splice(0, excess);
      this.dropped += excess;
    }
  }

  text(): string {
    return this.lines.map((line) => line.text).join("\n");
  }

  #data(stream: OutputStream, node: string, time: string, base64: string): void {
    const key = `${stream} ${node}`;
    let channel = this.#channels.get(key);
    if (channel === undefined) {
      channel = { node, decoder: new TextDecoder(), open: undefined, raw: "" };
      this.#channels.set(key, channel);
    }
    const text = channel.decoder.decode(decodeBase64(base64), { stream: true });
    const parts = text.split("\n");
    parts.forEach((part, index) => {
      if (index > 0) channel.open = undefined;
      if (part === "" && index === parts.length - 1) return;
      if (channel.open === undefined) {
        channel.raw = "";
        channel.open = { id: this.#next++, kind: stream, text: "", node, time };
        this.lines.push(channel.open);
      }
      channel.raw += part;
      channel.open.text = shown(channel.raw);
    });
  }
}

/** What a terminal would leave standing of one line. */
export function shown(raw: string): string {
  const plain = raw.replace(CONTROL, "");
  const last = plain.replace(/\r+$/, "").split("\r").at(-1) ?? "";
  return last.replace(UNPRINTABLE, "\ufffd");
}

export function decodeBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}
