-- Plugins of stacks: types of resources that projects bring themselves, and which definitions are read with them.

CREATE TABLE IF NOT EXISTS stack_plugin (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES project (id),
    name TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    kind TEXT NOT NULL,
    file TEXT NOT NULL,
    artefact BYTEA NOT NULL,
    manifest TEXT NOT NULL,
    place TEXT NOT NULL,
    created_by TEXT NOT NULL,
    time_created BIGINT NOT NULL,
    UNIQUE (project_id, name, version)
);

-- numbers that were used; they stay when versions go, so that none ever means two things
CREATE TABLE IF NOT EXISTS stack_plugin_name (
    project_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    version_last BIGINT NOT NULL,
    PRIMARY KEY (project_id, name)
);

CREATE TABLE IF NOT EXISTS stack_plugin_use (
    plugin_id TEXT COLLATE "C" NOT NULL REFERENCES stack_plugin (id),
    definition_id TEXT COLLATE "C" NOT NULL,
    stack_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (plugin_id, definition_id)
);

CREATE INDEX IF NOT EXISTS stack_plugin_use_stack ON stack_plugin_use (stack_id, definition_id);
