-- State: entries, what projects and namespaces hold together, and the log of changes.

CREATE TABLE IF NOT EXISTS state_head (
    id TEXT NOT NULL PRIMARY KEY,
    revision INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    logged INTEGER NOT NULL
) STRICT;

INSERT INTO state_head (id, revision, time_modified, logged) VALUES ('state', 0, 0, 0) ON CONFLICT (id) DO NOTHING;

-- id is PROJECT/NAMESPACE/KEY; the value is last, so that the rest is read without it
CREATE TABLE IF NOT EXISTS state_entry (
    id TEXT NOT NULL PRIMARY KEY,
    is_gone INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    create_revision INTEGER NOT NULL,
    version INTEGER NOT NULL,
    size INTEGER NOT NULL,
    owner TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    time_expires INTEGER,
    value BLOB
) STRICT;

CREATE INDEX IF NOT EXISTS state_entry_expires ON state_entry (time_expires, id) WHERE time_expires IS NOT NULL;

CREATE INDEX IF NOT EXISTS state_entry_gone ON state_entry (revision, id) WHERE is_gone = TRUE;

-- id is PROJECT or PROJECT/NAMESPACE
CREATE TABLE IF NOT EXISTS state_sum (
    id TEXT NOT NULL PRIMARY KEY,
    entries INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS state_log (
    last_revision INTEGER NOT NULL PRIMARY KEY,
    first_revision INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    logged INTEGER NOT NULL,
    changes BLOB NOT NULL
) STRICT;
