-- Nodes that are asked what they hold before they are told anything, because the database was restored.
CREATE TABLE IF NOT EXISTS node_resync (
    node_id TEXT NOT NULL PRIMARY KEY REFERENCES node (id),
    cause TEXT NOT NULL,
    time_created INTEGER NOT NULL
) STRICT;

-- Backups that servers made by themselves, or tried to.
CREATE TABLE IF NOT EXISTS backup_attempt (
    id TEXT NOT NULL PRIMARY KEY,
    server_name TEXT NOT NULL,
    file TEXT NOT NULL,
    size INTEGER NOT NULL,
    digest BLOB,
    problem TEXT,
    time_created INTEGER NOT NULL,
    time_ended INTEGER
) STRICT;

CREATE INDEX IF NOT EXISTS backup_attempt_time ON backup_attempt (time_created, id);
