-- Searching the audit record, signed anchors of its chain, and how far each sink has been told.

CREATE INDEX IF NOT EXISTS audit_entry_object ON audit_entry (object_id, sequence);
CREATE INDEX IF NOT EXISTS audit_entry_object_name ON audit_entry (object_name, sequence);
CREATE INDEX IF NOT EXISTS audit_entry_project ON audit_entry (project_id, sequence);
CREATE INDEX IF NOT EXISTS audit_entry_source ON audit_entry (source, sequence);
CREATE INDEX IF NOT EXISTS audit_entry_time ON audit_entry (time_created, sequence);

CREATE TABLE IF NOT EXISTS audit_anchor (
    sequence INTEGER NOT NULL PRIMARY KEY,
    hash BLOB NOT NULL,
    time_created INTEGER NOT NULL,
    authority TEXT NOT NULL,
    signature BLOB NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS audit_sink (
    name TEXT NOT NULL PRIMARY KEY,
    sequence INTEGER NOT NULL,
    anchor_sequence INTEGER NOT NULL,
    problem TEXT,
    time_modified INTEGER NOT NULL
) STRICT;
