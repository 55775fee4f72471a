-- Nodes that are asked what they hold before they are told anything, because the database was restored.
CREATE TABLE IF NOT EXISTS node_resync (
    node_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES node (id),
    cause TEXT NOT NULL,
    time_created BIGINT NOT NULL
);

-- Backups that servers made by themselves, or tried to.
CREATE TABLE IF NOT EXISTS backup_attempt (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    server_name TEXT NOT NULL,
    file TEXT NOT NULL,
    size BIGINT NOT NULL,
    digest BYTEA,
    problem TEXT,
    time_created BIGINT NOT NULL,
    time_ended BIGINT
);

CREATE INDEX IF NOT EXISTS backup_attempt_time ON backup_attempt (time_created, id);
