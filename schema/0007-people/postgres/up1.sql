-- How people come to have an account, and how they prove who they are.

-- scope is 'global' or the id of a project
CREATE TABLE IF NOT EXISTS invitation (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    secret_hash BYTEA NOT NULL UNIQUE,
    scope TEXT COLLATE "C" NOT NULL,
    role TEXT NOT NULL,
    user_name TEXT,
    email TEXT NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL REFERENCES principal (id),
    time_created BIGINT NOT NULL,
    time_expires BIGINT NOT NULL,
    time_used BIGINT,
    used_by TEXT,
    time_revoked BIGINT
);

CREATE INDEX IF NOT EXISTS invitation_scope ON invitation (scope, id);
CREATE INDEX IF NOT EXISTS invitation_creator ON invitation (created_by);
CREATE INDEX IF NOT EXISTS invitation_expires ON invitation (time_expires);

CREATE TABLE IF NOT EXISTS password_reset (
    principal_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES principal (id),
    secret_hash BYTEA NOT NULL UNIQUE,
    created_by TEXT COLLATE "C" NOT NULL,
    time_created BIGINT NOT NULL,
    time_expires BIGINT NOT NULL
);

-- secret_sealed opens with the master key only
CREATE TABLE IF NOT EXISTS second_factor (
    principal_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES principal (id),
    secret_sealed BYTEA NOT NULL,
    step_last BIGINT NOT NULL,
    time_created BIGINT NOT NULL,
    time_confirmed BIGINT
);

CREATE TABLE IF NOT EXISTS recovery_code (
    principal_id TEXT COLLATE "C" NOT NULL REFERENCES principal (id),
    code_hash BYTEA NOT NULL,
    PRIMARY KEY (principal_id, code_hash)
);

-- logins that failed, by a hash of whose they were
CREATE TABLE IF NOT EXISTS login_tally (
    kind TEXT COLLATE "C" NOT NULL,
    subject BYTEA NOT NULL,
    failures BIGINT NOT NULL,
    time_last BIGINT NOT NULL,
    is_told BOOLEAN NOT NULL,
    PRIMARY KEY (kind, subject)
);

CREATE INDEX IF NOT EXISTS login_tally_last ON login_tally (kind, time_last);
