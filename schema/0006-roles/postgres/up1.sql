-- Custom roles and groups. A binding names its role; those that are not built in are in `custom_role`.

CREATE TABLE IF NOT EXISTS custom_role (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    description TEXT NOT NULL,
    permissions TEXT NOT NULL,
    generation BIGINT NOT NULL,
    time_created BIGINT NOT NULL,
    time_modified BIGINT NOT NULL
);

CREATE TABLE IF NOT EXISTS principal_group (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL UNIQUE,
    description TEXT NOT NULL,
    generation BIGINT NOT NULL,
    time_created BIGINT NOT NULL,
    time_modified BIGINT NOT NULL
);

CREATE TABLE IF NOT EXISTS group_member (
    group_id TEXT COLLATE "C" NOT NULL REFERENCES principal_group (id),
    principal_id TEXT COLLATE "C" NOT NULL REFERENCES principal (id),
    PRIMARY KEY (group_id, principal_id)
);

CREATE INDEX IF NOT EXISTS group_member_principal ON group_member (principal_id, group_id);

CREATE TABLE IF NOT EXISTS group_binding (
    group_id TEXT COLLATE "C" NOT NULL REFERENCES principal_group (id),
    scope TEXT COLLATE "C" NOT NULL,
    role TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (group_id, scope)
);

CREATE INDEX IF NOT EXISTS group_binding_scope ON group_binding (scope, group_id);

CREATE INDEX IF NOT EXISTS group_binding_role ON group_binding (role);

CREATE INDEX IF NOT EXISTS role_binding_role ON role_binding (role);
