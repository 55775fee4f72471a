-- Workloads, where they are placed, and their runs.

CREATE TABLE IF NOT EXISTS workload (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    spec TEXT NOT NULL,
    desired TEXT NOT NULL,
    state TEXT NOT NULL,
    state_detail TEXT NOT NULL,
    generation INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    time_ended INTEGER,
    UNIQUE (project_id, name)
) STRICT;

CREATE INDEX IF NOT EXISTS workload_project ON workload (project_id, id);
CREATE INDEX IF NOT EXISTS workload_state ON workload (state, id);
CREATE INDEX IF NOT EXISTS workload_ended ON workload (time_ended, id);

CREATE TABLE IF NOT EXISTS placement (
    id TEXT NOT NULL PRIMARY KEY,
    workload_id TEXT NOT NULL REFERENCES workload (id),
    project_id TEXT NOT NULL,
    node_id TEXT NOT NULL REFERENCES node (id),
    run_id TEXT NOT NULL,
    desired TEXT NOT NULL,
    desired_generation INTEGER NOT NULL,
    stop_grace TEXT,
    is_released INTEGER NOT NULL,
    cores_millis INTEGER NOT NULL,
    memory INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS placement_workload ON placement (workload_id, id);
CREATE INDEX IF NOT EXISTS placement_feed ON placement (node_id, desired_generation, id) WHERE is_released = FALSE;
CREATE INDEX IF NOT EXISTS placement_usage ON placement (node_id, cores_millis, memory) WHERE is_released = FALSE;

CREATE TABLE IF NOT EXISTS run (
    id TEXT NOT NULL PRIMARY KEY,
    placement_id TEXT NOT NULL REFERENCES placement (id),
    workload_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    state TEXT NOT NULL,
    state_detail TEXT NOT NULL,
    report_generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_started INTEGER,
    time_ended INTEGER
) STRICT;

CREATE INDEX IF NOT EXISTS run_placement ON run (placement_id);
CREATE INDEX IF NOT EXISTS run_workload ON run (workload_id, id);
CREATE INDEX IF NOT EXISTS run_node ON run (node_id, state, id);
CREATE INDEX IF NOT EXISTS run_assigned ON run (time_created, id) WHERE state = 'assigned';
