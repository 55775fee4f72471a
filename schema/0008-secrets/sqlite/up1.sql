-- Secrets. Nothing here is a value: `sealed` is sealed with a key of its own, and that key with the master
-- key that `key_id` names.

CREATE TABLE IF NOT EXISTS secret (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    environment TEXT NOT NULL,
    name TEXT NOT NULL,
    source TEXT NOT NULL,
    version_current INTEGER NOT NULL,
    version_last INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    UNIQUE (project_id, environment, name)
) STRICT;

-- of a version that was destroyed, only that there was one
CREATE TABLE IF NOT EXISTS secret_version (
    secret_id TEXT NOT NULL REFERENCES secret (id),
    version INTEGER NOT NULL,
    size INTEGER NOT NULL,
    sealed BLOB,
    wrapped_key BLOB,
    key_id TEXT,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_destroyed INTEGER,
    PRIMARY KEY (secret_id, version)
) STRICT;

CREATE INDEX IF NOT EXISTS secret_version_key ON secret_version (key_id, secret_id, version);
