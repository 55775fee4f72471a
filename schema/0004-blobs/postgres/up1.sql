-- Content by its digest. A scope is the id of a project, or empty for what belongs to everybody.

CREATE TABLE IF NOT EXISTS chunk (
    scope TEXT COLLATE "C" NOT NULL,
    digest BYTEA NOT NULL,
    size BIGINT NOT NULL,
    packed BYTEA NOT NULL,
    packed_size BIGINT NOT NULL,
    time_used BIGINT NOT NULL,
    PRIMARY KEY (scope, digest)
);

CREATE INDEX IF NOT EXISTS chunk_used ON chunk (time_used);
CREATE INDEX IF NOT EXISTS chunk_size ON chunk (packed_size);

CREATE TABLE IF NOT EXISTS blob (
    scope TEXT COLLATE "C" NOT NULL,
    digest BYTEA NOT NULL,
    size BIGINT NOT NULL,
    kind TEXT NOT NULL,
    label TEXT NOT NULL,
    chunk_count BIGINT NOT NULL,
    created_by TEXT COLLATE "C",
    time_created BIGINT NOT NULL,
    time_used BIGINT NOT NULL,
    PRIMARY KEY (scope, digest)
);

CREATE INDEX IF NOT EXISTS blob_newest ON blob (scope, time_created, digest);
CREATE INDEX IF NOT EXISTS blob_used ON blob (time_used);

CREATE TABLE IF NOT EXISTS blob_chunk (
    scope TEXT COLLATE "C" NOT NULL,
    blob BYTEA NOT NULL,
    number BIGINT NOT NULL,
    digest BYTEA NOT NULL,
    size BIGINT NOT NULL,
    PRIMARY KEY (scope, blob, number)
);

CREATE INDEX IF NOT EXISTS blob_chunk_digest ON blob_chunk (scope, digest);

-- who needs a blob; the holder is a task or an array
CREATE TABLE IF NOT EXISTS blob_use (
    scope TEXT COLLATE "C" NOT NULL,
    digest BYTEA NOT NULL,
    holder TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (scope, digest, holder)
);

CREATE INDEX IF NOT EXISTS blob_use_holder ON blob_use (holder);

-- a node may put one blob of this kind for everybody
CREATE TABLE IF NOT EXISTS blob_grant (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    node_id TEXT COLLATE "C" NOT NULL,
    kind TEXT NOT NULL,
    time_expires BIGINT NOT NULL
);

CREATE INDEX IF NOT EXISTS blob_grant_expires ON blob_grant (time_expires);

-- what runs left; without a digest, the words say why there is nothing
CREATE TABLE IF NOT EXISTS run_output (
    run_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    workload_id TEXT COLLATE "C" NOT NULL,
    scope TEXT COLLATE "C" NOT NULL,
    kind TEXT NOT NULL,
    digest BYTEA,
    size BIGINT NOT NULL,
    words TEXT NOT NULL,
    time_created BIGINT NOT NULL,
    PRIMARY KEY (run_id, name)
);

CREATE INDEX IF NOT EXISTS run_output_workload ON run_output (workload_id, run_id, name);
CREATE INDEX IF NOT EXISTS run_output_digest ON run_output (scope, digest);
