-- unless workload.trace
-- The trace that a task was submitted in, as a W3C `traceparent`; and what services use on each node, as last told.

ALTER TABLE workload ADD COLUMN trace TEXT;

CREATE TABLE IF NOT EXISTS node_usage (
    node_id TEXT NOT NULL PRIMARY KEY,
    usage TEXT NOT NULL,
    time_modified INTEGER NOT NULL
) STRICT;
