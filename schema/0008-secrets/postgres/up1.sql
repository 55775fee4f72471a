-- Secrets. Nothing here is a value: `sealed` is sealed with a key of its own, and that key with the master
-- key that `key_id` names.

CREATE TABLE IF NOT EXISTS secret (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES project (id),
    environment TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    source TEXT NOT NULL,
    version_current BIGINT NOT NULL,
    version_last BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    time_created BIGINT NOT NULL,
    time_modified BIGINT NOT NULL,
    UNIQUE (project_id, environment, name)
);

-- of a version that was destroyed, only that there was one
CREATE TABLE IF NOT EXISTS secret_version (
    secret_id TEXT COLLATE "C" NOT NULL REFERENCES secret (id),
    version BIGINT NOT NULL,
    size BIGINT NOT NULL,
    sealed BYTEA,
    wrapped_key BYTEA,
    key_id TEXT COLLATE "C",
    created_by TEXT NOT NULL,
    time_created BIGINT NOT NULL,
    time_destroyed BIGINT,
    PRIMARY KEY (secret_id, version)
);

CREATE INDEX IF NOT EXISTS secret_version_key ON secret_version (key_id, secret_id, version);
