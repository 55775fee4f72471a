-- Versions of workflows and of the modules that they ask for, and executions.

CREATE TABLE IF NOT EXISTS workflow_version (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES project (id),
    name TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    bundle BYTEA NOT NULL,
    file TEXT NOT NULL,
    graph TEXT NOT NULL,
    modules TEXT NOT NULL,
    created_by TEXT NOT NULL,
    time_created BIGINT NOT NULL,
    UNIQUE (project_id, name, version)
);

-- numbers that were used; they stay when versions go, so that none ever means two things
CREATE TABLE IF NOT EXISTS workflow_name (
    project_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    version_last BIGINT NOT NULL,
    PRIMARY KEY (project_id, name)
);

CREATE TABLE IF NOT EXISTS module_version (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES project (id),
    name TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    bundle BYTEA NOT NULL,
    file TEXT NOT NULL,
    modules TEXT NOT NULL,
    created_by TEXT NOT NULL,
    time_created BIGINT NOT NULL,
    UNIQUE (project_id, name, version)
);

CREATE TABLE IF NOT EXISTS module_name (
    project_id TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    version_last BIGINT NOT NULL,
    PRIMARY KEY (project_id, name)
);

CREATE TABLE IF NOT EXISTS execution (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES project (id),
    workflow TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    bundle BYTEA NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    outcome TEXT,
    is_cancel_requested BOOLEAN NOT NULL,
    generation BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    time_created BIGINT NOT NULL,
    time_modified BIGINT NOT NULL,
    time_begun BIGINT NOT NULL,
    time_due BIGINT,
    time_ended BIGINT,
    options TEXT NOT NULL,
    given TEXT NOT NULL,
    graph TEXT NOT NULL
);

CREATE INDEX IF NOT EXISTS execution_project ON execution (project_id, id);

CREATE INDEX IF NOT EXISTS execution_workflow ON execution (project_id, workflow, id);

CREATE INDEX IF NOT EXISTS execution_open ON execution (project_id, id) WHERE state <> 'ended';

CREATE INDEX IF NOT EXISTS execution_due ON execution (time_due, id) WHERE state <> 'ended' AND time_due IS NOT NULL;

CREATE INDEX IF NOT EXISTS execution_ended ON execution (time_ended, id);

CREATE INDEX IF NOT EXISTS execution_state ON execution (state);

CREATE TABLE IF NOT EXISTS execution_step (
    execution_id TEXT COLLATE "C" NOT NULL REFERENCES execution (id),
    position BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    standing TEXT NOT NULL,
    tries BIGINT NOT NULL,
    message TEXT NOT NULL,
    changed BOOLEAN,
    exported TEXT NOT NULL,
    results TEXT NOT NULL,
    artifacts TEXT NOT NULL,
    is_undone BOOLEAN NOT NULL,
    approval_id TEXT COLLATE "C",
    time_started BIGINT,
    time_ended BIGINT,
    PRIMARY KEY (execution_id, position)
);

-- tasks that executions submitted; the outcome is absent while one is under way
CREATE TABLE IF NOT EXISTS execution_job (
    workload_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    execution_id TEXT COLLATE "C" NOT NULL REFERENCES execution (id),
    kind TEXT NOT NULL,
    position BIGINT,
    tries BIGINT NOT NULL,
    node TEXT,
    wanted TEXT,
    outcome TEXT,
    message TEXT NOT NULL,
    result BYTEA
);

CREATE INDEX IF NOT EXISTS execution_job_execution ON execution_job (execution_id, workload_id);

CREATE INDEX IF NOT EXISTS execution_job_open ON execution_job (execution_id, workload_id) WHERE outcome IS NULL;
