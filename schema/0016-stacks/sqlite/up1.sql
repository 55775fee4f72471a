-- Stacks, everything that belongs to one, and configuration of software as Heat's interface keeps it.

-- the counters of events are of this table only: positions up to the one were given, up to the other removed
CREATE TABLE IF NOT EXISTS stack (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    parent_stack_id TEXT,
    parent_resource_id TEXT,
    root_id TEXT NOT NULL,
    depth INTEGER NOT NULL,
    action TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    traversal INTEGER NOT NULL,
    wanted TEXT,
    settled TEXT,
    options TEXT NOT NULL,
    tags TEXT NOT NULL,
    revision INTEGER NOT NULL,
    mandate_principal TEXT NOT NULL,
    mandate_can TEXT,
    generation INTEGER NOT NULL,
    event_last INTEGER NOT NULL,
    event_gone INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_updated INTEGER,
    time_deleted INTEGER,
    time_begun INTEGER NOT NULL,
    failure TEXT,
    time_deadline INTEGER,
    time_due INTEGER,
    key_id TEXT NOT NULL,
    wrapped_key BLOB NOT NULL,
    key_sealed BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX IF NOT EXISTS stack_name ON stack (project_id, name) WHERE time_deleted IS NULL AND parent_stack_id IS NULL;

CREATE INDEX IF NOT EXISTS stack_created ON stack (project_id, time_created, id);

CREATE INDEX IF NOT EXISTS stack_updated ON stack (project_id, COALESCE(time_updated, 0), id);

CREATE INDEX IF NOT EXISTS stack_called ON stack (project_id, name, id);

CREATE INDEX IF NOT EXISTS stack_status ON stack (project_id, status, id);

CREATE INDEX IF NOT EXISTS stack_everywhere ON stack (time_created, id);

CREATE INDEX IF NOT EXISTS stack_parent ON stack (parent_stack_id, id) WHERE parent_stack_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS stack_root ON stack (root_id, id);

CREATE INDEX IF NOT EXISTS stack_due ON stack (time_due, id) WHERE time_due IS NOT NULL;

CREATE INDEX IF NOT EXISTS stack_deleted ON stack (time_deleted, id) WHERE time_deleted IS NOT NULL;

CREATE TABLE IF NOT EXISTS stack_definition (
    id TEXT NOT NULL PRIMARY KEY,
    stack_id TEXT NOT NULL REFERENCES stack (id),
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    sealed BLOB NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS stack_definition_stack ON stack_definition (stack_id, id);

-- the lease of who does a deed is renewed in its column only; time_due is when somebody has to look at it: at its own
-- time, or when that lease ends
CREATE TABLE IF NOT EXISTS stack_resource (
    id TEXT NOT NULL PRIMARY KEY,
    stack_id TEXT NOT NULL REFERENCES stack (id),
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    action TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    physical TEXT,
    definition_id TEXT,
    traversal INTEGER NOT NULL,
    requires TEXT NOT NULL,
    replaces TEXT,
    replaced_by TEXT,
    deletion_policy TEXT NOT NULL,
    deed TEXT,
    deed_definition TEXT,
    deed_owner TEXT,
    deed_time_lease INTEGER,
    deed_time_due INTEGER,
    deeds INTEGER NOT NULL,
    hooks TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    time_due INTEGER,
    sealed BLOB NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS stack_resource_name ON stack_resource (stack_id, name, id);

-- of the beginning: what objects are called in the world has no bound
CREATE INDEX IF NOT EXISTS stack_resource_physical ON stack_resource (SUBSTR(physical, 1, 200)) WHERE physical IS NOT NULL;

CREATE INDEX IF NOT EXISTS stack_resource_due ON stack_resource (time_due, stack_id) WHERE time_due IS NOT NULL;

CREATE TABLE IF NOT EXISTS stack_event (
    stack_id TEXT NOT NULL REFERENCES stack (id),
    position INTEGER NOT NULL,
    id TEXT NOT NULL,
    root_id TEXT NOT NULL,
    resource_id TEXT,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    physical TEXT,
    subject TEXT NOT NULL,
    action TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    properties TEXT,
    time_created INTEGER NOT NULL,
    PRIMARY KEY (stack_id, position)
) STRICT;

CREATE INDEX IF NOT EXISTS stack_event_root ON stack_event (root_id, id);

CREATE TABLE IF NOT EXISTS stack_revision (
    stack_id TEXT NOT NULL REFERENCES stack (id),
    number INTEGER NOT NULL,
    definition_id TEXT NOT NULL,
    action TEXT NOT NULL,
    reason TEXT NOT NULL,
    resources INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    sealed BLOB NOT NULL,
    PRIMARY KEY (stack_id, number)
) STRICT;

CREATE TABLE IF NOT EXISTS stack_snapshot (
    id TEXT NOT NULL PRIMARY KEY,
    stack_id TEXT NOT NULL REFERENCES stack (id),
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    definition_id TEXT NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    sealed BLOB NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS stack_snapshot_stack ON stack_snapshot (stack_id, id);

-- the stack may not be there yet
CREATE TABLE IF NOT EXISTS stack_plan (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    stack_id TEXT NOT NULL,
    base INTEGER NOT NULL,
    digest BLOB NOT NULL,
    changes TEXT NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_expires INTEGER NOT NULL,
    time_used INTEGER,
    sealed BLOB NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS stack_plan_stack ON stack_plan (stack_id, id);

CREATE INDEX IF NOT EXISTS stack_plan_project ON stack_plan (project_id, id);

CREATE INDEX IF NOT EXISTS stack_plan_expires ON stack_plan (time_expires, id);

CREATE TABLE IF NOT EXISTS stack_drift (
    stack_id TEXT NOT NULL PRIMARY KEY REFERENCES stack (id),
    traversal INTEGER NOT NULL,
    looked INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    missing INTEGER NOT NULL,
    unknown INTEGER NOT NULL,
    report TEXT NOT NULL,
    time_created INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS stack_dependency (
    stack_id TEXT NOT NULL REFERENCES stack (id),
    on_name TEXT NOT NULL,
    project_id TEXT NOT NULL,
    outputs TEXT NOT NULL,
    PRIMARY KEY (stack_id, on_name)
) STRICT;

CREATE INDEX IF NOT EXISTS stack_dependency_on ON stack_dependency (project_id, on_name, stack_id);

CREATE TABLE IF NOT EXISTS software_config (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    tool TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    key_id TEXT NOT NULL,
    wrapped_key BLOB NOT NULL,
    sealed BLOB NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS software_config_project ON software_config (project_id, id);

CREATE TABLE IF NOT EXISTS software_deployment (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    config_id TEXT NOT NULL REFERENCES software_config (id),
    server TEXT NOT NULL,
    action TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_updated INTEGER,
    key_id TEXT NOT NULL,
    wrapped_key BLOB NOT NULL,
    sealed BLOB NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS software_deployment_project ON software_deployment (project_id, id);

CREATE INDEX IF NOT EXISTS software_deployment_server ON software_deployment (project_id, server, id);

CREATE INDEX IF NOT EXISTS software_deployment_config ON software_deployment (config_id, id);
