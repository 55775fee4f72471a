-- Servers and nodes, and how nodes join.

CREATE TABLE IF NOT EXISTS server (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    api_address TEXT NOT NULL,
    agent_address TEXT NOT NULL,
    time_started BIGINT NOT NULL,
    time_seen BIGINT NOT NULL
);

CREATE INDEX IF NOT EXISTS server_seen ON server (time_seen);

-- name_key is the name while the node is present and NULL once it is removed, so that the name can be
-- used again
CREATE TABLE IF NOT EXISTS node (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    name_key TEXT COLLATE "C" UNIQUE,
    labels TEXT NOT NULL,
    state TEXT NOT NULL,
    cordon_reason TEXT,
    time_cordoned BIGINT,
    is_draining BOOLEAN NOT NULL,
    facts TEXT,
    agent_version TEXT NOT NULL,
    generation BIGINT NOT NULL,
    desired_generation BIGINT NOT NULL,
    time_created BIGINT NOT NULL,
    time_modified BIGINT NOT NULL,
    time_state BIGINT NOT NULL
);

CREATE INDEX IF NOT EXISTS node_name ON node (name, id);
CREATE INDEX IF NOT EXISTS node_state ON node (state, name, id);

-- is_held is false once the server has let the session go; the row stays, because its epoch fences
CREATE TABLE IF NOT EXISTS node_lease (
    node_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES node (id),
    server_id TEXT COLLATE "C" NOT NULL,
    is_held BOOLEAN NOT NULL,
    session_epoch BIGINT NOT NULL,
    applied_generation BIGINT NOT NULL,
    time_seen BIGINT NOT NULL,
    metrics TEXT
);

CREATE TABLE IF NOT EXISTS join_token (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    secret_hash BYTEA NOT NULL UNIQUE,
    node_name TEXT COLLATE "C",
    labels TEXT NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL,
    time_created BIGINT NOT NULL,
    time_expires BIGINT NOT NULL,
    time_used BIGINT,
    used_by TEXT COLLATE "C",
    time_revoked BIGINT
);

CREATE TABLE IF NOT EXISTS node_certificate (
    serial TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    node_id TEXT COLLATE "C" NOT NULL REFERENCES node (id),
    time_created BIGINT NOT NULL,
    time_expires BIGINT NOT NULL,
    time_revoked BIGINT
);

CREATE INDEX IF NOT EXISTS node_certificate_node ON node_certificate (node_id);
