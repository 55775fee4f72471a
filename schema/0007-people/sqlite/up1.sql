-- How people come to have an account, and how they prove who they are.

-- scope is 'global' or the id of a project
CREATE TABLE IF NOT EXISTS invitation (
    id TEXT NOT NULL PRIMARY KEY,
    secret_hash BLOB NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    role TEXT NOT NULL,
    user_name TEXT,
    email TEXT NOT NULL,
    created_by TEXT NOT NULL REFERENCES principal (id),
    time_created INTEGER NOT NULL,
    time_expires INTEGER NOT NULL,
    time_used INTEGER,
    used_by TEXT,
    time_revoked INTEGER
) STRICT;

CREATE INDEX IF NOT EXISTS invitation_scope ON invitation (scope, id);
CREATE INDEX IF NOT EXISTS invitation_creator ON invitation (created_by);
CREATE INDEX IF NOT EXISTS invitation_expires ON invitation (time_expires);

CREATE TABLE IF NOT EXISTS password_reset (
    principal_id TEXT NOT NULL PRIMARY KEY REFERENCES principal (id),
    secret_hash BLOB NOT NULL UNIQUE,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_expires INTEGER NOT NULL
) STRICT;

-- secret_sealed opens with the master key only
CREATE TABLE IF NOT EXISTS second_factor (
    principal_id TEXT NOT NULL PRIMARY KEY REFERENCES principal (id),
    secret_sealed BLOB NOT NULL,
    step_last INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_confirmed INTEGER
) STRICT;

CREATE TABLE IF NOT EXISTS recovery_code (
    principal_id TEXT NOT NULL REFERENCES principal (id),
    code_hash BLOB NOT NULL,
    PRIMARY KEY (principal_id, code_hash)
) STRICT;

-- logins that failed, by a hash of whose they were
CREATE TABLE IF NOT EXISTS login_tally (
    kind TEXT NOT NULL,
    subject BLOB NOT NULL,
    failures INTEGER NOT NULL,
    time_last INTEGER NOT NULL,
    is_told INTEGER NOT NULL,
    PRIMARY KEY (kind, subject)
) STRICT;

CREATE INDEX IF NOT EXISTS login_tally_last ON login_tally (kind, time_last);
