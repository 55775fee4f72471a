-- The trace that a task was submitted in, as a W3C `traceparent`; and what services use on each node, as last told.

ALTER TABLE workload ADD COLUMN IF NOT EXISTS trace TEXT;

CREATE TABLE IF NOT EXISTS node_usage (
    node_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    usage TEXT NOT NULL,
    time_modified BIGINT NOT NULL
);
