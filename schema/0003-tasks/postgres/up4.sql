-- Task arrays; who waits for whom; what was used.

-- tasks are made from the indexes in their order, and "made" counts how many there are so far;
-- unsettled and unsuccessful count those that have not ended (not made yet included), and that ended
-- otherwise than well
CREATE TABLE IF NOT EXISTS task_array (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES project (id),
    name TEXT COLLATE "C" NOT NULL,
    spec TEXT NOT NULL,
    indexes TEXT NOT NULL,
    size BIGINT NOT NULL,
    is_gang BOOLEAN NOT NULL,
    is_stopped BOOLEAN NOT NULL,
    made BIGINT NOT NULL,
    unsettled BIGINT NOT NULL,
    unsuccessful BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL,
    time_created BIGINT NOT NULL,
    time_modified BIGINT NOT NULL,
    UNIQUE (project_id, name)
);

CREATE INDEX IF NOT EXISTS task_array_project ON task_array (project_id, id);
CREATE INDEX IF NOT EXISTS task_array_made ON task_array (id) WHERE is_stopped = FALSE AND made < size;

-- on_id is a task or an array
CREATE TABLE IF NOT EXISTS task_after (
    task_id TEXT COLLATE "C" NOT NULL REFERENCES workload (id),
    on_id TEXT COLLATE "C" NOT NULL,
    condition TEXT NOT NULL,
    PRIMARY KEY (task_id, on_id)
);

CREATE INDEX IF NOT EXISTS task_after_on ON task_after (on_id, task_id);

-- what tasks used, by the day they ended
CREATE TABLE IF NOT EXISTS account (
    project_id TEXT COLLATE "C" NOT NULL,
    principal_id TEXT COLLATE "C" NOT NULL,
    day BIGINT NOT NULL,
    tasks BIGINT NOT NULL,
    core_milliseconds BIGINT NOT NULL,
    gpu_milliseconds BIGINT NOT NULL,
    memory_mib_seconds BIGINT NOT NULL,
    wait_milliseconds BIGINT NOT NULL,
    run_milliseconds BIGINT NOT NULL,
    PRIMARY KEY (project_id, principal_id, day)
);

CREATE INDEX IF NOT EXISTS account_day ON account (day);

CREATE INDEX IF NOT EXISTS workload_queue ON workload (project_id, priority DESC, id, time_ready, class, array_id) WHERE state = 'pending';
CREATE INDEX IF NOT EXISTS workload_delayed ON workload (time_ready) WHERE state = 'pending' AND time_ready > time_created;
CREATE INDEX IF NOT EXISTS workload_give_up ON workload (time_give_up, id) WHERE state = 'pending' AND time_give_up IS NOT NULL;
CREATE INDEX IF NOT EXISTS workload_placed ON workload (priority) WHERE state IN ('assigning', 'running', 'paused');
CREATE INDEX IF NOT EXISTS workload_array ON workload (array_id, array_index) WHERE array_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS placement_particular ON placement (node_id, id) WHERE is_released = FALSE AND reservation IS NOT NULL;
CREATE INDEX IF NOT EXISTS placement_project ON placement (project_id, cores_millis, memory) WHERE is_released = FALSE;
