-- What each node may keep of the output of a project that may not keep all.

CREATE TABLE IF NOT EXISTS log_share (
    project_id TEXT COLLATE "C" NOT NULL,
    node_id TEXT COLLATE "C" NOT NULL,
    granted BIGINT NOT NULL,
    ceiling BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    PRIMARY KEY (project_id, node_id)
);
CREATE INDEX IF NOT EXISTS log_share_node ON log_share (node_id);
