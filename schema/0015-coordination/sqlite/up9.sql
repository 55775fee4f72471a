-- Watchers, what nodes are told of them, and what nodes told last.

CREATE TABLE IF NOT EXISTS watcher (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL,
    name TEXT NOT NULL,
    spec TEXT NOT NULL,
    mandate_principal TEXT NOT NULL,
    mandate_can TEXT,
    is_enabled INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    UNIQUE (project_id, name)
) STRICT;

CREATE TABLE IF NOT EXISTS node_watch (
    node_id TEXT NOT NULL PRIMARY KEY,
    generation INTEGER NOT NULL,
    applied INTEGER NOT NULL,
    orders TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS watcher_node (
    watcher_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    standing TEXT,
    time_told INTEGER,
    PRIMARY KEY (watcher_id, node_id)
) STRICT;

CREATE INDEX IF NOT EXISTS watcher_node_node ON watcher_node (node_id);
