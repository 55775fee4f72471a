// A task's output as lines to look at: bytes decoded per stream, terminal control dropped, bounded.
//
// Chunks end anywhere, in the middle of a line or of a character: each stream has its own decoder
// and its own unfinished line. When more than the bound is held the oldest lines go, and the view
// says so; the command line still has all of it.

import type { LogLine, OutputStream } from "./api/types";

export interface OutputLine {
  id: number;
  kind: OutputStream | "gap";
  text: string;
}

export const LINES_KEPT = 3000;

interface Channel {
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
  cursor: string | undefined;
  #next = 0;
  #channels = new Map<OutputStream, Channel>();

  take(line: LogLine): void {
    if (line.type === "data") {
      this.cursor = line.cursor;
      this.#data(line.stream, line.data);
    } else if (line.type === "gap") {
      for (const channel of this.#channels.values()) channel.open = undefined;
      this.lines.push({ id: this.#next++, kind: "gap", text: line.detail });
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

  #data(stream: OutputStream, base64: string): void {
    let channel = this.#channels.get(stream);
    if (channel === undefined) {
      channel = { decoder: new TextDecoder(), open: undefined, raw: "" };
      this.#channels.set(stream, channel);
    }
    const text = channel.decoder.decode(decodeBase64(base64), { stream: true });
    const parts = text.split("\n");
    parts.forEach((part, index) => {
      if (index > 0) channel.open = undefined;
      if (part === "" && index === parts.length - 1) return;
      if (channel.open === undefined) {
        channel.raw = "";
        channel.open = { id: this.#next++, kind: stream, text: "" };
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
