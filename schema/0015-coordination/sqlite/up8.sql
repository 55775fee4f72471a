-- Backups of nodes, and objects in stores for backups that nothing names, or nothing names yet.

CREATE TABLE IF NOT EXISTS node_backup (
    id TEXT NOT NULL PRIMARY KEY,
    node_id TEXT NOT NULL,
    node_name TEXT NOT NULL,
    label TEXT NOT NULL,
    store TEXT NOT NULL,
    spec TEXT NOT NULL,
    state TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    outcome TEXT,
    error TEXT,
    verdict TEXT,
    created_by TEXT NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_ended INTEGER
) STRICT;

CREATE INDEX IF NOT EXISTS node_backup_time ON node_backup (time_created, id);
CREATE INDEX IF NOT EXISTS node_backup_node ON node_backup (node_id, time_created, id);
CREATE INDEX IF NOT EXISTS node_backup_label ON node_backup (label, time_created, id);
CREATE INDEX IF NOT EXISTS node_backup_state ON node_backup (state, time_created, id);

CREATE TABLE IF NOT EXISTS backup_object (
    store TEXT NOT NULL,
    name TEXT NOT NULL,
    time_used INTEGER NOT NULL,
    PRIMARY KEY (store, name)
) STRICT;

CREATE INDEX IF NOT EXISTS backup_object_time ON backup_object (time_used);
