// A workload's output as somebody looks at it: the newest lines that fit, then what comes, from one
// run into the next and from all nodes. Pausing closes the stream; going on takes it up after the
// newest line seen of every node, so nothing is missed and nothing comes twice. Another question that
// is asked while paused is answered once.

import { ApiError, asProblem, stream } from "./api/http";
import { lines } from "./api/lines";
import { pause } from "./api/pause";
import type { Problem, WorkloadLogLine } from "./api/types";
import { type LogsQuery, logsQuery } from "./logs-query";
import { LINES_KEPT, Output, type OutputLine } from "./output";

export type OutputStatus = "paused" | "following" | "ended" | "retrying" | "failed";

const GATHER_MS = 80;
/** Refusals that asking again will not change. */
const LASTING = new Set([400, 401, 403, 404, 409, 422]);

export class WorkloadOutput {
  shown = $state.raw<OutputLine[]>([]);
  dropped = $state(0);
  status = $state<OutputStatus>("following");
  problem = $state.raw<Problem>();

  #output = new Output();
  #question = "";
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Shows what the query asks for; returns what ends it. */
  follow(project: string, workload: string, query: LogsQuery): () => void {
    const question = JSON.stringify([project, workload, { ...query, isFollowed: true }]);
    const isNew = question !== this.#question;
    if (isNew) {
      this.#question = question;
      this.#output = new Output();
      this.#show();
      this.problem = undefined;
    }
    if (!query.isFollowed && !isNew) {
      this.status = "paused";
      return () => undefined;
    }
    const stop = new AbortController();
    this.status = "following";
    void this.#read(project, workload, query, stop.signal);
    return () => {
      stop.abort();
      this.#show();
    };
  }

  async #read(
    project: string,
    workload: string,
    asked: LogsQuery,
    signal: AbortSignal,
  ): Promise<void> {
    const output = this.#output;
    const first = logsQuery(asked, LINES_KEPT, Date.now());
    for (let attempt = 0; !signal.aborted; attempt++) {
      try {
        const { cursor } = output;
        const response = await stream("/api/v1/projects/{project}/workloads/{workload}/logs", {
          path: { project, workload },
          query: { ...first, follow: asked.isFollowed, cursor },
          signal,
        });
        this.status = "following";
        this.problem = undefined;
        for await (const text of lines(response.body ?? new ReadableStream())) {
          if (signal.aborted) return;
          if (text === "") continue;
          const line = JSON.parse(text) as WorkloadLogLine;
          if (line.type === "data") attempt = 0;
          output.take(line);
          this.#timer ??= setTimeout(() => this.#show(), GATHER_MS);
          if (line.type === "end" && (line.complete || !asked.isFollowed)) {
            this.#show();
            this.status = asked.isFollowed ? "ended" : "paused";
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
