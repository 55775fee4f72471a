// Pauses between attempts: growing, bounded, jittered, cut short when the network comes back.

const FIRST_MS = 400;
const LONGEST_MS = 15_000;

export function pauseLength(attempt: number, random: number): number {
  const full = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 10));
  return Math.round(full * (0.5 + random / 2));
}

export function pause(attempt: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      window.removeEventListener("online", done);
      resolve();
    };
    const timer = setTimeout(done, pauseLength(attempt, Math.random()));
    signal.addEventListener("abort", done);
    window.addEventListener("online", done);
  });
}
