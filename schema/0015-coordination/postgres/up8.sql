-- Backups of nodes, and objects in stores for backups that nothing names, or nothing names yet.

CREATE TABLE IF NOT EXISTS node_backup (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    node_id TEXT COLLATE "C" NOT NULL,
    node_name TEXT NOT NULL,
    label TEXT COLLATE "C" NOT NULL,
    store TEXT COLLATE "C" NOT NULL,
    spec TEXT NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    operation_id TEXT COLLATE "C" NOT NULL,
    outcome TEXT,
    error TEXT,
    verdict TEXT,
    created_by TEXT NOT NULL,
    generation BIGINT NOT NULL,
    time_created BIGINT NOT NULL,
    time_ended BIGINT
);

CREATE INDEX IF NOT EXISTS node_backup_time ON node_backup (time_created, id);
CREATE INDEX IF NOT EXISTS node_backup_node ON node_backup (node_id, time_created, id);
CREATE INDEX IF NOT EXISTS node_backup_label ON node_backup (label, time_created, id);
CREATE INDEX IF NOT EXISTS node_backup_state ON node_backup (state, time_created, id);

CREATE TABLE IF NOT EXISTS backup_object (
    store TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    time_used BIGINT NOT NULL,
    PRIMARY KEY (store, name)
);

CREATE INDEX IF NOT EXISTS backup_object_time ON backup_object (time_used);
