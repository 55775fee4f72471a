// Following a task's output: read what there is, then go on until the task has ended and everything
// was sent. A connection that drops is taken up again after the last cursor seen.

import { ApiError, asProblem, stream } from "./api/http";
import { lines } from "./api/lines";
import { pause } from "./api/pause";
import type { LogLine, Problem } from "./api/types";
import { LINES_KEPT, Output, type OutputLine } from "./output";

type Status = "waiting" | "following" | "ended" | "retrying" | "failed";

const GATHER_MS = 60;
const LASTING = new Set([401, 403, 404]);

export class TaskOutput {
  shown = $state.raw<OutputLine[]>([]);
  dropped = $state(0);
  status = $state<Status>("waiting");
  problem = $state.raw<Problem>();

  #output = new Output();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Follows the task's output; returns what ends it. */
  follow(project: string, task: string): () => void {
    const stop = new AbortController();
    this.#output = new Output();
    this.#show();
    this.status = "following";
    this.problem = undefined;
    void this.#read(project, task, stop.signal);
    return () => {
      stop.abort();
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  text(): string {
    return this.#output.text();
  }

  async #read(project: string, task: string, signal: AbortSignal): Promise<void> {
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        const { cursor } = this.#output;
        const from = cursor === undefined ? { tail: LINES_KEPT } : { cursor };
        const response = await stream("/api/v1/projects/{project}/tasks/{task}/logs", {
          path: { project, task },
          query: { follow: true, ...from },
          signal,
        });
        this.status = "following";
        this.problem = undefined;
        for await (const text of lines(response.body ?? new ReadableStream())) {
          if (text === "") continue;
          const line = JSON.parse(text) as LogLine;
          if (line.type === "data") attempt = 0;
          this.#output.take(line);
          this.#timer ??= setTimeout(() => this.#show(), GATHER_MS);
          if (line.type === "end" && line.complete) {
            this.#show();
            this.status = "ended";
            return;
          }
        }
        if (!signal.aborted && attempt > 0) this.status = "retrying";
      } catch (error) {
        if (signal.aborted) return;
        this.problem = asProblem(error);
        this.status = "retrying";
        if (error instanceof ApiError && LASTING.has(error.status)) {
          this.status = "failed";
          return;
        }
      }
      await pause(attempt, signal);
    }
  }

  #show(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.shown = this.#output.lines.map((line) => ({ ...line }));
    this.dropped = this.#output.dropped;
  }
}
