// What is read once when somebody wants to see it, and again when they say so.

import { asProblem } from "./api/http";
import type { Problem } from "./api/types";

export class Loaded<T> {
  /** `undefined` until the first answer is there; it stays while another one is waited for. */
  value = $state.raw<T>();
  problem = $state.raw<Problem>();
  isBusy = $state(false);

  /** Asks; returns what gives up waiting. For an effect. */
  ask(question: (signal: AbortSignal) => Promise<T>): () => void {
    const stop = new AbortController();
    this.isBusy = true;
    question(stop.signal).then(
      (value) => {
        if (stop.signal.aborted) return;
        this.value = value;
        this.problem = undefined;
        this.isBusy = false;
      },
      (error: unknown) => {
        if (stop.signal.aborted) return;
        this.problem = asProblem(error);
        this.isBusy = false;
      },
    );
    return () => {
      stop.abort();
      this.isBusy = false;
    };
  }
}
