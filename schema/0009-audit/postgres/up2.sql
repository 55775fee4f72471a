-- Searching the audit record, signed anchors of its chain, and how far each sink has been told.

CREATE INDEX IF NOT EXISTS audit_entry_object ON audit_entry (object_id, sequence);
CREATE INDEX IF NOT EXISTS audit_entry_object_name ON audit_entry (object_name, sequence);
CREATE INDEX IF NOT EXISTS audit_entry_project ON audit_entry (project_id, sequence);
CREATE INDEX IF NOT EXISTS audit_entry_source ON audit_entry (source, sequence);
CREATE INDEX IF NOT EXISTS audit_entry_time ON audit_entry (time_created, sequence);

CREATE TABLE IF NOT EXISTS audit_anchor (
    sequence BIGINT NOT NULL PRIMARY KEY,
    hash BYTEA NOT NULL,
    time_created BIGINT NOT NULL,
    authority TEXT NOT NULL,
    signature BYTEA NOT NULL
);

CREATE TABLE IF NOT EXISTS audit_sink (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    sequence BIGINT NOT NULL,
    anchor_sequence BIGINT NOT NULL,
    problem TEXT,
    time_modified BIGINT NOT NULL
);
