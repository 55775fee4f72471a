-- State: entries, what projects and namespaces hold together, and the log of changes.

CREATE TABLE IF NOT EXISTS state_head (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    revision BIGINT NOT NULL,
    time_modified BIGINT NOT NULL,
    logged BIGINT NOT NULL
);

INSERT INTO state_head (id, revision, time_modified, logged) VALUES ('state', 0, 0, 0) ON CONFLICT (id) DO NOTHING;

-- id is PROJECT/NAMESPACE/KEY; the value is last, so that the rest is read without it
CREATE TABLE IF NOT EXISTS state_entry (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    is_gone BOOLEAN NOT NULL,
    revision BIGINT NOT NULL,
    create_revision BIGINT NOT NULL,
    version BIGINT NOT NULL,
    size BIGINT NOT NULL,
    owner TEXT NOT NULL,
    time_created BIGINT NOT NULL,
    time_modified BIGINT NOT NULL,
    time_expires BIGINT,
    value BYTEA
);

CREATE INDEX IF NOT EXISTS state_entry_expires ON state_entry (time_expires, id) WHERE time_expires IS NOT NULL;

CREATE INDEX IF NOT EXISTS state_entry_gone ON state_entry (revision, id) WHERE is_gone = TRUE;

-- id is PROJECT or PROJECT/NAMESPACE
CREATE TABLE IF NOT EXISTS state_sum (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    entries BIGINT NOT NULL,
    bytes BIGINT NOT NULL
);

CREATE TABLE IF NOT EXISTS state_log (
    last_revision BIGINT NOT NULL PRIMARY KEY,
    first_revision BIGINT NOT NULL,
    time_created BIGINT NOT NULL,
    logged BIGINT NOT NULL,
    changes BYTEA NOT NULL
);
