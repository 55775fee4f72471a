-- Content by its digest. A scope is the id of a project, or empty for what belongs to everybody.

CREATE TABLE IF NOT EXISTS chunk (
    scope TEXT NOT NULL,
    digest BLOB NOT NULL,
    size INTEGER NOT NULL,
    packed BLOB NOT NULL,
    packed_size INTEGER NOT NULL,
    time_used INTEGER NOT NULL,
    PRIMARY KEY (scope, digest)
) STRICT;

CREATE INDEX IF NOT EXISTS chunk_used ON chunk (time_used);
CREATE INDEX IF NOT EXISTS chunk_size ON chunk (packed_size);

CREATE TABLE IF NOT EXISTS blob (
    scope TEXT NOT NULL,
    digest BLOB NOT NULL,
    size INTEGER NOT NULL,
    kind TEXT NOT NULL,
    label TEXT NOT NULL,
    chunk_count INTEGER NOT NULL,
    created_by TEXT,
    time_created INTEGER NOT NULL,
    time_used INTEGER NOT NULL,
    PRIMARY KEY (scope, digest)
) STRICT;

CREATE INDEX IF NOT EXISTS blob_newest ON blob (scope, time_created, digest);
CREATE INDEX IF NOT EXISTS blob_used ON blob (time_used);

CREATE TABLE IF NOT EXISTS blob_chunk (
    scope TEXT NOT NULL,
    blob BLOB NOT NULL,
    number INTEGER NOT NULL,
    digest BLOB NOT NULL,
    size INTEGER NOT NULL,
    PRIMARY KEY (scope, blob, number)
) STRICT;

CREATE INDEX IF NOT EXISTS blob_chunk_digest ON blob_chunk (scope, digest);

-- who needs a blob; the holder is a task or an array
CREATE TABLE IF NOT EXISTS blob_use (
    scope TEXT NOT NULL,
    digest BLOB NOT NULL,
    holder TEXT NOT NULL,
    PRIMARY KEY (scope, digest, holder)
) STRICT;

CREATE INDEX IF NOT EXISTS blob_use_holder ON blob_use (holder);

-- a node may put one blob of this kind for everybody
CREATE TABLE IF NOT EXISTS blob_grant (
    id TEXT NOT NULL PRIMARY KEY,
    node_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    time_expires INTEGER NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS blob_grant_expires ON blob_grant (time_expires);

-- what runs left; without a digest, the words say why there is nothing
CREATE TABLE IF NOT EXISTS run_output (
    run_id TEXT NOT NULL,
    name TEXT NOT NULL,
    workload_id TEXT NOT NULL,
    scope TEXT NOT NULL,
    kind TEXT NOT NULL,
    digest BLOB,
    size INTEGER NOT NULL,
    words TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    PRIMARY KEY (run_id, name)
) STRICT;

CREATE INDEX IF NOT EXISTS run_output_workload ON run_output (workload_id, run_id, name);
CREATE INDEX IF NOT EXISTS run_output_digest ON run_output (scope, digest);
