-- Who may do what, and where: projects, principals, role bindings, tokens, web sessions.

CREATE TABLE IF NOT EXISTS project (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS principal (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    password_hash TEXT,
    is_disabled INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL
) STRICT;

-- scope is 'global' or the id of a project
CREATE TABLE IF NOT EXISTS role_binding (
    principal_id TEXT NOT NULL REFERENCES principal (id),
    scope TEXT NOT NULL,
    role TEXT NOT NULL,
    PRIMARY KEY (principal_id, scope)
) STRICT;

CREATE INDEX IF NOT EXISTS role_binding_scope ON role_binding (scope, principal_id);

CREATE TABLE IF NOT EXISTS token (
    id TEXT NOT NULL PRIMARY KEY,
    principal_id TEXT NOT NULL REFERENCES principal (id),
    name TEXT NOT NULL,
    secret_hash BLOB NOT NULL UNIQUE,
    role_max TEXT NOT NULL,
    project_id TEXT REFERENCES project (id),
    time_created INTEGER NOT NULL,
    time_expires INTEGER,
    time_last_used INTEGER,
    time_revoked INTEGER
) STRICT;

CREATE INDEX IF NOT EXISTS token_principal ON token (principal_id, id);
CREATE INDEX IF NOT EXISTS token_project ON token (project_id);

CREATE TABLE IF NOT EXISTS web_session (
    id TEXT NOT NULL PRIMARY KEY,
    principal_id TEXT NOT NULL REFERENCES principal (id),
    secret_hash BLOB NOT NULL UNIQUE,
    user_agent TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_expires INTEGER NOT NULL,
    time_last_used INTEGER NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS web_session_principal ON web_session (principal_id, id);
CREATE INDEX IF NOT EXISTS web_session_expires ON web_session (time_expires);
