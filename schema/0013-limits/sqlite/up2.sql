-- What each node may keep of the output of a project that may not keep all.

CREATE TABLE IF NOT EXISTS log_share (
    project_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    granted INTEGER NOT NULL,
    ceiling INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    PRIMARY KEY (project_id, node_id)
) STRICT;
CREATE INDEX IF NOT EXISTS log_share_node ON log_share (node_id);
