-- Approvals: what needs one, and what waits for one.

CREATE TABLE IF NOT EXISTS approval_policy (
    id TEXT NOT NULL PRIMARY KEY,
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    rule TEXT NOT NULL,
    created_by TEXT NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    UNIQUE (scope, name)
) STRICT;

CREATE TABLE IF NOT EXISTS approval (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT,
    verb TEXT NOT NULL,
    name TEXT NOT NULL,
    digest BLOB NOT NULL,
    what TEXT NOT NULL,
    requested_by TEXT NOT NULL,
    tasks TEXT NOT NULL,
    array_id TEXT,
    needs TEXT NOT NULL,
    decisions TEXT NOT NULL,
    state TEXT NOT NULL,
    why TEXT NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_expires INTEGER NOT NULL,
    time_ended INTEGER
) STRICT;

CREATE INDEX IF NOT EXISTS approval_state ON approval (state, time_expires);

CREATE INDEX IF NOT EXISTS approval_requested ON approval (requested_by, id);

CREATE INDEX IF NOT EXISTS approval_project ON approval (project_id, id);

CREATE INDEX IF NOT EXISTS approval_ended ON approval (time_ended);

CREATE INDEX IF NOT EXISTS approval_array ON approval (array_id);

-- which approval a task waits for, or waited for
CREATE TABLE IF NOT EXISTS approval_task (
    workload_id TEXT NOT NULL PRIMARY KEY,
    approval_id TEXT NOT NULL REFERENCES approval (id)
) STRICT;

CREATE INDEX IF NOT EXISTS approval_task_approval ON approval_task (approval_id);

-- people who were given a secret of a service account: to approvals they and it are one
CREATE TABLE IF NOT EXISTS token_maker (
    principal_id TEXT NOT NULL,
    maker_id TEXT NOT NULL,
    PRIMARY KEY (principal_id, maker_id)
) STRICT;
