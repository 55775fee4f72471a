-- Plugins of stacks: types of resources that projects bring themselves, and which definitions are read with them.

CREATE TABLE IF NOT EXISTS stack_plugin (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    kind TEXT NOT NULL,
    file TEXT NOT NULL,
    artefact BLOB NOT NULL,
    manifest TEXT NOT NULL,
    place TEXT NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    UNIQUE (project_id, name, version)
) STRICT;

-- numbers that were used; they stay when versions go, so that none ever means two things
CREATE TABLE IF NOT EXISTS stack_plugin_name (
    project_id TEXT NOT NULL,
    name TEXT NOT NULL,
    version_last INTEGER NOT NULL,
    PRIMARY KEY (project_id, name)
) STRICT;

CREATE TABLE IF NOT EXISTS stack_plugin_use (
    plugin_id TEXT NOT NULL REFERENCES stack_plugin (id),
    definition_id TEXT NOT NULL,
    stack_id TEXT NOT NULL,
    PRIMARY KEY (plugin_id, definition_id)
) STRICT;

CREATE INDEX IF NOT EXISTS stack_plugin_use_stack ON stack_plugin_use (stack_id, definition_id);
