-- Versions of workflows and of the modules that they ask for, and executions.

CREATE TABLE IF NOT EXISTS workflow_version (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    bundle BLOB NOT NULL,
    file TEXT NOT NULL,
    graph TEXT NOT NULL,
    modules TEXT NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    UNIQUE (project_id, name, version)
) STRICT;

-- numbers that were used; they stay when versions go, so that none ever means two things
CREATE TABLE IF NOT EXISTS workflow_name (
    project_id TEXT NOT NULL,
    name TEXT NOT NULL,
    version_last INTEGER NOT NULL,
    PRIMARY KEY (project_id, name)
) STRICT;

CREATE TABLE IF NOT EXISTS module_version (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    bundle BLOB NOT NULL,
    file TEXT NOT NULL,
    modules TEXT NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    UNIQUE (project_id, name, version)
) STRICT;

CREATE TABLE IF NOT EXISTS module_name (
    project_id TEXT NOT NULL,
    name TEXT NOT NULL,
    version_last INTEGER NOT NULL,
    PRIMARY KEY (project_id, name)
) STRICT;

CREATE TABLE IF NOT EXISTS execution (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    workflow TEXT NOT NULL,
    version INTEGER NOT NULL,
    bundle BLOB NOT NULL,
    state TEXT NOT NULL,
    outcome TEXT,
    is_cancel_requested INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    time_begun INTEGER NOT NULL,
    time_due INTEGER,
    time_ended INTEGER,
    options TEXT NOT NULL,
    given TEXT NOT NULL,
    graph TEXT NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS execution_project ON execution (project_id, id);

CREATE INDEX IF NOT EXISTS execution_workflow ON execution (project_id, workflow, id);

CREATE INDEX IF NOT EXISTS execution_open ON execution (project_id, id) WHERE state <> 'ended';

CREATE INDEX IF NOT EXISTS execution_due ON execution (time_due, id) WHERE state <> 'ended' AND time_due IS NOT NULL;

CREATE INDEX IF NOT EXISTS execution_ended ON execution (time_ended, id);

CREATE INDEX IF NOT EXISTS execution_state ON execution (state);

CREATE TABLE IF NOT EXISTS execution_step (
    execution_id TEXT NOT NULL REFERENCES execution (id),
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    standing TEXT NOT NULL,
    tries INTEGER NOT NULL,
    message TEXT NOT NULL,
    changed INTEGER,
    exported TEXT NOT NULL,
    results TEXT NOT NULL,
    artifacts TEXT NOT NULL,
    is_undone INTEGER NOT NULL,
    approval_id TEXT,
    time_started INTEGER,
    time_ended INTEGER,
    PRIMARY KEY (execution_id, position)
) STRICT;

-- tasks that executions submitted; the outcome is absent while one is under way
CREATE TABLE IF NOT EXISTS execution_job (
    workload_id TEXT NOT NULL PRIMARY KEY,
    execution_id TEXT NOT NULL REFERENCES execution (id),
    kind TEXT NOT NULL,
    position INTEGER,
    tries INTEGER NOT NULL,
    node TEXT,
    wanted TEXT,
    outcome TEXT,
    message TEXT NOT NULL,
    result BLOB
) STRICT;

CREATE INDEX IF NOT EXISTS execution_job_execution ON execution_job (execution_id, workload_id);

CREATE INDEX IF NOT EXISTS execution_job_open ON execution_job (execution_id, workload_id) WHERE outcome IS NULL;
