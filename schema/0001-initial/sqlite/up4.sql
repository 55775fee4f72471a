-- Operations, the journal (events and audit), and the small tables servers share.

CREATE TABLE IF NOT EXISTS operation (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT,
    plan TEXT NOT NULL,
    state TEXT NOT NULL,
    steps TEXT NOT NULL,
    error TEXT,
    is_cancel_requested INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    owner_id TEXT,
    adoption INTEGER NOT NULL,
    time_lease INTEGER,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    time_ended INTEGER
) STRICT;

CREATE INDEX IF NOT EXISTS operation_state ON operation (state, id);
CREATE INDEX IF NOT EXISTS operation_project ON operation (project_id, id);

CREATE TABLE IF NOT EXISTS event (
    sequence INTEGER NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    project_id TEXT,
    object_kind TEXT NOT NULL,
    object_id TEXT NOT NULL,
    object_name TEXT NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    message TEXT NOT NULL,
    time_created INTEGER NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS event_object ON event (object_id, sequence);
CREATE INDEX IF NOT EXISTS event_project ON event (project_id, sequence);
CREATE INDEX IF NOT EXISTS event_kind ON event (kind, sequence);

CREATE TABLE IF NOT EXISTS audit_entry (
    sequence INTEGER NOT NULL PRIMARY KEY,
    time_created INTEGER NOT NULL,
    actor_kind TEXT NOT NULL,
    actor_name TEXT NOT NULL,
    action TEXT NOT NULL,
    object_kind TEXT NOT NULL,
    object_id TEXT NOT NULL,
    object_name TEXT NOT NULL,
    project_id TEXT,
    request_id TEXT NOT NULL,
    source TEXT NOT NULL,
    detail TEXT NOT NULL,
    hash_previous BLOB NOT NULL,
    hash BLOB NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS audit_entry_actor ON audit_entry (actor_name, sequence);
CREATE INDEX IF NOT EXISTS audit_entry_action ON audit_entry (action, sequence);

-- one row, id 'journal'; every change that leaves an event or an audit entry ends by updating it
CREATE TABLE IF NOT EXISTS journal_head (
    id TEXT NOT NULL PRIMARY KEY,
    event_floor INTEGER NOT NULL,
    event_sequence INTEGER NOT NULL,
    audit_sequence INTEGER NOT NULL,
    audit_hash BLOB NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS lease (
    name TEXT NOT NULL PRIMARY KEY,
    holder_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    time_until INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS setting (
    name TEXT NOT NULL PRIMARY KEY,
    content BLOB NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS idempotency_key (
    principal_id TEXT NOT NULL,
    name TEXT NOT NULL,
    request_hash BLOB NOT NULL,
    object_kind TEXT NOT NULL,
    object_id TEXT NOT NULL,
    object_name TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    PRIMARY KEY (principal_id, name)
) STRICT;

CREATE INDEX IF NOT EXISTS idempotency_key_time ON idempotency_key (time_created);
