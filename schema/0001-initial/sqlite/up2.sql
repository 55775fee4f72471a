-- Servers and nodes, and how nodes join.

CREATE TABLE IF NOT EXISTS server (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    api_address TEXT NOT NULL,
    agent_address TEXT NOT NULL,
    time_started INTEGER NOT NULL,
    time_seen INTEGER NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS server_seen ON server (time_seen);

-- name_key is the name while the node is present and NULL once it is removed, so that the name can be
-- used again
CREATE TABLE IF NOT EXISTS node (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    name_key TEXT UNIQUE,
    labels TEXT NOT NULL,
    state TEXT NOT NULL,
    cordon_reason TEXT,
    time_cordoned INTEGER,
    is_draining INTEGER NOT NULL,
    facts TEXT,
    agent_version TEXT NOT NULL,
    generation INTEGER NOT NULL,
    desired_generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    time_state INTEGER NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS node_name ON node (name, id);
CREATE INDEX IF NOT EXISTS node_state ON node (state, name, id);

-- is_held is false once the server has let the session go; the row stays, because its epoch fences
CREATE TABLE IF NOT EXISTS node_lease (
    node_id TEXT NOT NULL PRIMARY KEY REFERENCES node (id),
    server_id TEXT NOT NULL,
    is_held INTEGER NOT NULL,
    session_epoch INTEGER NOT NULL,
    applied_generation INTEGER NOT NULL,
    time_seen INTEGER NOT NULL,
    metrics TEXT
) STRICT;

CREATE TABLE IF NOT EXISTS join_token (
    id TEXT NOT NULL PRIMARY KEY,
    secret_hash BLOB NOT NULL UNIQUE,
    node_name TEXT,
    labels TEXT NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_expires INTEGER NOT NULL,
    time_used INTEGER,
    used_by TEXT,
    time_revoked INTEGER
) STRICT;

CREATE TABLE IF NOT EXISTS node_certificate (
    serial TEXT NOT NULL PRIMARY KEY,
    node_id TEXT NOT NULL REFERENCES node (id),
    time_created INTEGER NOT NULL,
    time_expires INTEGER NOT NULL,
    time_revoked INTEGER
) STRICT;

CREATE INDEX IF NOT EXISTS node_certificate_node ON node_certificate (node_id);
