-- Stacks, everything that belongs to one, and configuration of software as Heat's interface keeps it.

-- the counters of events are of this table only: positions up to the one were given, up to the other removed
CREATE TABLE IF NOT EXISTS stack (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES project (id),
    name TEXT COLLATE "C" NOT NULL,
    description TEXT NOT NULL,
    parent_stack_id TEXT COLLATE "C",
    parent_resource_id TEXT COLLATE "C",
    root_id TEXT COLLATE "C" NOT NULL,
    depth BIGINT NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    reason TEXT NOT NULL,
    traversal BIGINT NOT NULL,
    wanted TEXT COLLATE "C",
    settled TEXT COLLATE "C",
    options TEXT NOT NULL,
    tags TEXT NOT NULL,
    revision BIGINT NOT NULL,
    mandate_principal TEXT COLLATE "C" NOT NULL,
    mandate_can TEXT,
    generation BIGINT NOT NULL,
    event_last BIGINT NOT NULL,
    event_gone BIGINT NOT NULL,
    time_created BIGINT NOT NULL,
    time_updated BIGINT,
    time_deleted BIGINT,
    time_begun BIGINT NOT NULL,
    failure TEXT,
    time_deadline BIGINT,
    time_due BIGINT,
    key_id TEXT COLLATE "C" NOT NULL,
    wrapped_key BYTEA NOT NULL,
    key_sealed BYTEA NOT NULL
);

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
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    stack_id TEXT COLLATE "C" NOT NULL REFERENCES stack (id),
    created_by TEXT NOT NULL,
    time_created BIGINT NOT NULL,
    sealed BYTEA NOT NULL
);

CREATE INDEX IF NOT EXISTS stack_definition_stack ON stack_definition (stack_id, id);

-- the lease of who does a deed is renewed in its column only; time_due is when somebody has to look at it: at its own
-- time, or when that lease ends
CREATE TABLE IF NOT EXISTS stack_resource (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    stack_id TEXT COLLATE "C" NOT NULL REFERENCES stack (id),
    name TEXT COLLATE "C" NOT NULL,
    kind TEXT NOT NULL,
    action TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    physical TEXT COLLATE "C",
    definition_id TEXT COLLATE "C",
    traversal BIGINT NOT NULL,
    requires TEXT NOT NULL,
    replaces TEXT COLLATE "C",
    replaced_by TEXT COLLATE "C",
    deletion_policy TEXT NOT NULL,
    deed TEXT,
    deed_definition TEXT COLLATE "C",
    deed_owner TEXT COLLATE "C",
    deed_time_lease BIGINT,
    deed_time_due BIGINT,
    deeds BIGINT NOT NULL,
    hooks TEXT NOT NULL,
    time_created BIGINT NOT NULL,
    time_modified BIGINT NOT NULL,
    time_due BIGINT,
    sealed BYTEA NOT NULL
);

CREATE INDEX IF NOT EXISTS stack_resource_name ON stack_resource (stack_id, name, id);

-- of the beginning: what objects are called in the world has no bound
CREATE INDEX IF NOT EXISTS stack_resource_physical ON stack_resource (SUBSTR(physical, 1, 200)) WHERE physical IS NOT NULL;

CREATE INDEX IF NOT EXISTS stack_resource_due ON stack_resource (time_due, stack_id) WHERE time_due IS NOT NULL;

CREATE TABLE IF NOT EXISTS stack_event (
    stack_id TEXT COLLATE "C" NOT NULL REFERENCES stack (id),
    position BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    root_id TEXT COLLATE "C" NOT NULL,
    resource_id TEXT COLLATE "C",
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    physical TEXT,
    subject TEXT NOT NULL,
    action TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    properties TEXT,
    time_created BIGINT NOT NULL,
    PRIMARY KEY (stack_id, position)
);

CREATE INDEX IF NOT EXISTS stack_event_root ON stack_event (root_id, id);

CREATE TABLE IF NOT EXISTS stack_revision (
    stack_id TEXT COLLATE "C" NOT NULL REFERENCES stack (id),
    number BIGINT NOT NULL,
    definition_id TEXT COLLATE "C" NOT NULL,
    action TEXT NOT NULL,
    reason TEXT NOT NULL,
    resources BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    time_created BIGINT NOT NULL,
    sealed BYTEA NOT NULL,
    PRIMARY KEY (stack_id, number)
);

CREATE TABLE IF NOT EXISTS stack_snapshot (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    stack_id TEXT COLLATE "C" NOT NULL REFERENCES stack (id),
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    definition_id TEXT COLLATE "C" NOT NULL,
    created_by TEXT NOT NULL,
    time_created BIGINT NOT NULL,
    sealed BYTEA NOT NULL
);

CREATE INDEX IF NOT EXISTS stack_snapshot_stack ON stack_snapshot (stack_id, id);

-- the stack may not be there yet
CREATE TABLE IF NOT EXISTS stack_plan (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES project (id),
    stack_id TEXT COLLATE "C" NOT NULL,
    base BIGINT NOT NULL,
    digest BYTEA NOT NULL,
    changes TEXT NOT NULL,
    created_by TEXT NOT NULL,
    time_created BIGINT NOT NULL,
    time_expires BIGINT NOT NULL,
    time_used BIGINT,
    sealed BYTEA NOT NULL
);

CREATE INDEX IF NOT EXISTS stack_plan_stack ON stack_plan (stack_id, id);

CREATE INDEX IF NOT EXISTS stack_plan_project ON stack_plan (project_id, id);

CREATE INDEX IF NOT EXISTS stack_plan_expires ON stack_plan (time_expires, id);

CREATE TABLE IF NOT EXISTS stack_drift (
    stack_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES stack (id),
    traversal BIGINT NOT NULL,
    looked BIGINT NOT NULL,
    changed BIGINT NOT NULL,
    missing BIGINT NOT NULL,
    unknown BIGINT NOT NULL,
    report TEXT NOT NULL,
    time_created BIGINT NOT NULL
);

CREATE TABLE IF NOT EXISTS stack_dependency (
    stack_id TEXT COLLATE "C" NOT NULL REFERENCES stack (id),
    on_name TEXT COLLATE "C" NOT NULL,
    project_id TEXT COLLATE "C" NOT NULL,
    outputs TEXT NOT NULL,
    PRIMARY KEY (stack_id, on_name)
);

CREATE INDEX IF NOT EXISTS stack_dependency_on ON stack_dependency (project_id, on_name, stack_id);

CREATE TABLE IF NOT EXISTS software_config (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    tool TEXT NOT NULL,
    time_created BIGINT NOT NULL,
    key_id TEXT COLLATE "C" NOT NULL,
    wrapped_key BYTEA NOT NULL,
    sealed BYTEA NOT NULL
);

CREATE INDEX IF NOT EXISTS software_config_project ON software_config (project_id, id);

CREATE TABLE IF NOT EXISTS software_deployment (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES project (id),
    config_id TEXT COLLATE "C" NOT NULL REFERENCES software_config (id),
    server TEXT COLLATE "C" NOT NULL,
    action TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    generation BIGINT NOT NULL,
    time_created BIGINT NOT NULL,
    time_updated BIGINT,
    key_id TEXT COLLATE "C" NOT NULL,
    wrapped_key BYTEA NOT NULL,
    sealed BYTEA NOT NULL
);

CREATE INDEX IF NOT EXISTS software_deployment_project ON software_deployment (project_id, id);

CREATE INDEX IF NOT EXISTS software_deployment_server ON software_deployment (project_id, server, id);

CREATE INDEX IF NOT EXISTS software_deployment_config ON software_deployment (config_id, id);
