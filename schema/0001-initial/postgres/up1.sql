-- Who may do what, and where: projects, principals, role bindings, tokens, web sessions.

CREATE TABLE IF NOT EXISTS project (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    description TEXT NOT NULL,
    generation BIGINT NOT NULL,
    time_created BIGINT NOT NULL,
    time_modified BIGINT NOT NULL
);

CREATE TABLE IF NOT EXISTS principal (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    password_hash TEXT,
    is_disabled BOOLEAN NOT NULL,
    generation BIGINT NOT NULL,
    time_created BIGINT NOT NULL,
    time_modified BIGINT NOT NULL
);

-- scope is 'global' or the id of a project
CREATE TABLE IF NOT EXISTS role_binding (
    principal_id TEXT COLLATE "C" NOT NULL REFERENCES principal (id),
    scope TEXT COLLATE "C" NOT NULL,
    role TEXT NOT NULL,
    PRIMARY KEY (principal_id, scope)
);

CREATE INDEX IF NOT EXISTS role_binding_scope ON role_binding (scope, principal_id);

CREATE TABLE IF NOT EXISTS token (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    principal_id TEXT COLLATE "C" NOT NULL REFERENCES principal (id),
    name TEXT COLLATE "C" NOT NULL,
    secret_hash BYTEA NOT NULL UNIQUE,
    role_max TEXT NOT NULL,
    project_id TEXT COLLATE "C" REFERENCES project (id),
    time_created BIGINT NOT NULL,
    time_expires BIGINT,
    time_last_used BIGINT,
    time_revoked BIGINT
);

CREATE INDEX IF NOT EXISTS token_principal ON token (principal_id, id);
CREATE INDEX IF NOT EXISTS token_project ON token (project_id);

CREATE TABLE IF NOT EXISTS web_session (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    principal_id TEXT COLLATE "C" NOT NULL REFERENCES principal (id),
    secret_hash BYTEA NOT NULL UNIQUE,
    user_agent TEXT NOT NULL,
    time_created BIGINT NOT NULL,
    time_expires BIGINT NOT NULL,
    time_last_used BIGINT NOT NULL
);

CREATE INDEX IF NOT EXISTS web_session_principal ON web_session (principal_id, id);
CREATE INDEX IF NOT EXISTS web_session_expires ON web_session (time_expires);
