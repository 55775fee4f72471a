-- Watchers, what nodes are told of them, and what nodes told last.

CREATE TABLE IF NOT EXISTS watcher (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    spec TEXT NOT NULL,
    mandate_principal TEXT COLLATE "C" NOT NULL,
    mandate_can TEXT,
    is_enabled BOOLEAN NOT NULL,
    generation BIGINT NOT NULL,
    time_created BIGINT NOT NULL,
    time_modified BIGINT NOT NULL,
    UNIQUE (project_id, name)
);

CREATE TABLE IF NOT EXISTS node_watch (
    node_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    generation BIGINT NOT NULL,
    applied BIGINT NOT NULL,
    orders TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS watcher_node (
    watcher_id TEXT COLLATE "C" NOT NULL,
    node_id TEXT COLLATE "C" NOT NULL,
    sequence BIGINT NOT NULL,
    standing TEXT,
    time_told BIGINT,
    PRIMARY KEY (watcher_id, node_id)
);

CREATE INDEX IF NOT EXISTS watcher_node_node ON watcher_node (node_id);
