-- Approvals: what needs one, and what waits for one.

CREATE TABLE IF NOT EXISTS approval_policy (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    scope TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    rule TEXT NOT NULL,
    created_by TEXT NOT NULL,
    generation BIGINT NOT NULL,
    time_created BIGINT NOT NULL,
    time_modified BIGINT NOT NULL,
    UNIQUE (scope, name)
);

CREATE TABLE IF NOT EXISTS approval (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C",
    verb TEXT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    digest BYTEA NOT NULL,
    what TEXT NOT NULL,
    requested_by TEXT COLLATE "C" NOT NULL,
    tasks TEXT NOT NULL,
    array_id TEXT COLLATE "C",
    needs TEXT NOT NULL,
    decisions TEXT NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    why TEXT NOT NULL,
    generation BIGINT NOT NULL,
    time_created BIGINT NOT NULL,
    time_expires BIGINT NOT NULL,
    time_ended BIGINT
);

CREATE INDEX IF NOT EXISTS approval_state ON approval (state, time_expires);

CREATE INDEX IF NOT EXISTS approval_requested ON approval (requested_by, id);

CREATE INDEX IF NOT EXISTS approval_project ON approval (project_id, id);

CREATE INDEX IF NOT EXISTS approval_ended ON approval (time_ended);

CREATE INDEX IF NOT EXISTS approval_array ON approval (array_id);

-- which approval a task waits for, or waited for
CREATE TABLE IF NOT EXISTS approval_task (
    workload_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    approval_id TEXT COLLATE "C" NOT NULL REFERENCES approval (id)
);

CREATE INDEX IF NOT EXISTS approval_task_approval ON approval_task (approval_id);

-- people who were given a secret of a service account: to approvals they and it are one
CREATE TABLE IF NOT EXISTS token_maker (
    principal_id TEXT COLLATE "C" NOT NULL,
    maker_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (principal_id, maker_id)
);
