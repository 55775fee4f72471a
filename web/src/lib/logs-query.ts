// Which lines of a workload's output are wanted: as people choose it, and as the server is asked.

export interface LogsQuery {
  node: string;
  run: string;
  /** How long ago (`15m`), a moment, or nothing for all that is kept. */
  since: string;
  grep: string;
  isFollowed: boolean;
}

export const EVERYTHING: LogsQuery = { node: "", run: "", since: "", grep: "", isFollowed: true };

export const SPANS: Record<string, { word: string; ms: number }> = {
  "5m": { word: "Last 5 minutes", ms: 300_000 },
  "15m": { word: "Last 15 minutes", ms: 900_000 },
  "1h": { word: "Last hour", ms: 3_600_000 },
  "6h": { word: "Last 6 hours", ms: 21_600_000 },
  "1d": { word: "Last day", ms: 86_400_000 },
  "7d": { word: "Last 7 days", ms: 604_800_000 },
};

/** When a span began. A moment is itself. */
export function sinceMoment(since: string, now: number): string | undefined {
  if (since === "") return undefined;
  const span = SPANS[since];
  return span ? new Date(now - span.ms).toISOString() : since;
}

/** What to ask for first: the newest lines that fit, of each node. */
export function logsQuery(
  query: LogsQuery,
  tail: number,
  now: number,
): Record<"node" | "run" | "since" | "grep", string | undefined> & { tail: number } {
  return {
    tail,
    node: query.node || undefined,
    run: query.run || undefined,
    since: sinceMoment(query.since, now),
    grep: query.grep || undefined,
  };
}
