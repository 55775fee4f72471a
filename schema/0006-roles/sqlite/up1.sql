-- Custom roles and groups. A binding names its role; those that are not built in are in `custom_role`.

CREATE TABLE IF NOT EXISTS custom_role (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    permissions TEXT NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS principal_group (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS group_member (
    group_id TEXT NOT NULL REFERENCES principal_group (id),
    principal_id TEXT NOT NULL REFERENCES principal (id),
    PRIMARY KEY (group_id, principal_id)
) STRICT;

CREATE INDEX IF NOT EXISTS group_member_principal ON group_member (principal_id, group_id);

CREATE TABLE IF NOT EXISTS group_binding (
    group_id TEXT NOT NULL REFERENCES principal_group (id),
    scope TEXT NOT NULL,
    role TEXT NOT NULL,
    PRIMARY KEY (group_id, scope)
) STRICT;

CREATE INDEX IF NOT EXISTS group_binding_scope ON group_binding (scope, group_id);

CREATE INDEX IF NOT EXISTS group_binding_role ON group_binding (role);

CREATE INDEX IF NOT EXISTS role_binding_role ON role_binding (role);
