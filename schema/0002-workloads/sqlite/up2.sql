-- unless placement.status
-- Placements without a run of their own (agents make the runs of services), and how they stand. A
-- column cannot lose its NOT NULL here, so the table is made again; runs point at it, so they are too.

CREATE TABLE run_before AS SELECT * FROM run;
DROP TABLE run;
CREATE TABLE placement_before AS SELECT * FROM placement;
DROP TABLE placement;

CREATE TABLE placement (
    id TEXT NOT NULL PRIMARY KEY,
    workload_id TEXT NOT NULL REFERENCES workload (id),
    project_id TEXT NOT NULL,
    node_id TEXT NOT NULL REFERENCES node (id),
    run_id TEXT,
    desired TEXT NOT NULL,
    desired_generation INTEGER NOT NULL,
    stop_grace TEXT,
    is_released INTEGER NOT NULL,
    cores_millis INTEGER NOT NULL,
    memory INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    revision INTEGER NOT NULL DEFAULT 0,
    status TEXT,
    status_generation INTEGER NOT NULL DEFAULT 0
) STRICT;

INSERT INTO placement (id, workload_id, project_id, node_id, run_id, desired, desired_generation, stop_grace, is_released, cores_millis, memory, time_created, time_modified, revision, status, status_generation)
SELECT id, workload_id, project_id, node_id, run_id, desired, desired_generation, stop_grace, is_released, cores_millis, memory, time_created, time_modified, 0, NULL, 0 FROM placement_before;
DROP TABLE placement_before;

CREATE INDEX placement_workload ON placement (workload_id, id);
CREATE INDEX placement_feed ON placement (node_id, desired_generation, id) WHERE is_released = FALSE;
CREATE INDEX placement_usage ON placement (node_id, cores_millis, memory) WHERE is_released = FALSE;

CREATE TABLE run (
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
    time_ended INTEGER,
    cause TEXT,
    fire INTEGER
) STRICT;

INSERT INTO run (id, placement_id, workload_id, project_id, node_id, attempt, state, state_detail, report_generation, time_created, time_started, time_ended, cause, fire)
SELECT id, placement_id, workload_id, project_id, node_id, attempt, state, state_detail, report_generation, time_created, time_started, time_ended, NULL, NULL FROM run_before;
DROP TABLE run_before;

CREATE INDEX run_workload ON run (workload_id, id);
CREATE INDEX run_node ON run (node_id, state, id);
CREATE INDEX run_placement ON run (placement_id);
CREATE INDEX run_assigned ON run (time_created, id) WHERE state = 'assigned';
