// Doing something again and again while somebody looks, never twice at once. A failure is passed
// over: the next time comes soon.

/** Begins after the first wait, or at once; returns what ends it. */
export function every(
  ms: number,
  act: (signal: AbortSignal) => Promise<void>,
  first = ms,
): () => void {
  const stop = new AbortController();
  let timer = setTimeout(turn, first);
  function turn(): void {
    const done = document.hidden ? Promise.resolve() : act(stop.signal).catch(() => undefined);
    void done.then(() => {
      if (!stop.signal.aborted) timer = setTimeout(turn, ms);
    });
  }
  return () => {
    stop.abort();
    clearTimeout(timer);
  };
}
