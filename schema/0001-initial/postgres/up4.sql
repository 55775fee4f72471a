-- Operations, the journal (events and audit), and the small tables servers share.

CREATE TABLE IF NOT EXISTS operation (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C",
    plan TEXT NOT NULL,
    state TEXT NOT NULL,
    steps TEXT NOT NULL,
    error TEXT,
    is_cancel_requested BOOLEAN NOT NULL,
    created_by TEXT NOT NULL,
    owner_id TEXT COLLATE "C",
    adoption BIGINT NOT NULL,
    time_lease BIGINT,
    generation BIGINT NOT NULL,
    time_created BIGINT NOT NULL,
    time_modified BIGINT NOT NULL,
    time_ended BIGINT
);

CREATE INDEX IF NOT EXISTS operation_state ON operation (state, id);
CREATE INDEX IF NOT EXISTS operation_project ON operation (project_id, id);

CREATE TABLE IF NOT EXISTS event (
    sequence BIGINT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    project_id TEXT COLLATE "C",
    object_kind TEXT NOT NULL,
    object_id TEXT COLLATE "C" NOT NULL,
    object_name TEXT NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    message TEXT NOT NULL,
    time_created BIGINT NOT NULL
);

CREATE INDEX IF NOT EXISTS event_object ON event (object_id, sequence);
CREATE INDEX IF NOT EXISTS event_project ON event (project_id, sequence);
CREATE INDEX IF NOT EXISTS event_kind ON event (kind, sequence);

CREATE TABLE IF NOT EXISTS audit_entry (
    sequence BIGINT NOT NULL PRIMARY KEY,
    time_created BIGINT NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_name TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    object_kind TEXT NOT NULL,
    object_id TEXT COLLATE "C" NOT NULL,
    object_name TEXT NOT NULL,
    project_id TEXT COLLATE "C",
    request_id TEXT NOT NULL,
    source TEXT NOT NULL,
    detail TEXT NOT NULL,
    hash_previous BYTEA NOT NULL,
    hash BYTEA NOT NULL
);

CREATE INDEX IF NOT EXISTS audit_entry_actor ON audit_entry (actor_name, sequence);
CREATE INDEX IF NOT EXISTS audit_entry_action ON audit_entry (action, sequence);

-- one row, id 'journal'; every change that leaves an event or an audit entry ends by updating it
CREATE TABLE IF NOT EXISTS journal_head (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    event_floor BIGINT NOT NULL,
    event_sequence BIGINT NOT NULL,
    audit_sequence BIGINT NOT NULL,
    audit_hash BYTEA NOT NULL
);

CREATE TABLE IF NOT EXISTS lease (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    holder_id TEXT COLLATE "C" NOT NULL,
    generation BIGINT NOT NULL,
    time_until BIGINT NOT NULL
);

CREATE TABLE IF NOT EXISTS setting (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    content BYTEA NOT NULL
);

CREATE TABLE IF NOT EXISTS idempotency_key (
    principal_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    request_hash BYTEA NOT NULL,
    object_kind TEXT NOT NULL,
    object_id TEXT COLLATE "C" NOT NULL,
    object_name TEXT NOT NULL,
    time_created BIGINT NOT NULL,
    PRIMARY KEY (principal_id, name)
);

CREATE INDEX IF NOT EXISTS idempotency_key_time ON idempotency_key (time_created);
