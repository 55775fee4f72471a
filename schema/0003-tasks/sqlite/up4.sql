-- Task arrays; who waits for whom; what was used.

-- tasks are made from the indexes in their order, and "made" counts how many there are so far;
-- unsettled and unsuccessful count those that have not ended (not made yet included), and that ended
-- otherwise than well
CREATE TABLE IF NOT EXISTS task_array (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    spec TEXT NOT NULL,
    indexes TEXT NOT NULL,
    size INTEGER NOT NULL,
    is_gang INTEGER NOT NULL,
    is_stopped INTEGER NOT NULL,
    made INTEGER NOT NULL,
    unsettled INTEGER NOT NULL,
    unsuccessful INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    UNIQUE (project_id, name)
) STRICT;

CREATE INDEX IF NOT EXISTS task_array_project ON task_array (project_id, id);
CREATE INDEX IF NOT EXISTS task_array_made ON task_array (id) WHERE is_stopped = FALSE AND made < size;

-- on_id is a task or an array
CREATE TABLE IF NOT EXISTS task_after (
    task_id TEXT NOT NULL REFERENCES workload (id),
    on_id TEXT NOT NULL,
    condition TEXT NOT NULL,
    PRIMARY KEY (task_id, on_id)
) STRICT;

CREATE INDEX IF NOT EXISTS task_after_on ON task_after (on_id, task_id);

-- what tasks used, by the day they ended
CREATE TABLE IF NOT EXISTS account (
    project_id TEXT NOT NULL,
    principal_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    tasks INTEGER NOT NULL,
    core_milliseconds INTEGER NOT NULL,
    gpu_milliseconds INTEGER NOT NULL,
    memory_mib_seconds INTEGER NOT NULL,
    wait_milliseconds INTEGER NOT NULL,
    run_milliseconds INTEGER NOT NULL,
    PRIMARY KEY (project_id, principal_id, day)
) STRICT;

CREATE INDEX IF NOT EXISTS account_day ON account (day);

CREATE INDEX IF NOT EXISTS workload_queue ON workload (project_id, priority DESC, id, time_ready, class, array_id) WHERE state = 'pending';
CREATE INDEX IF NOT EXISTS workload_delayed ON workload (time_ready) WHERE state = 'pending' AND time_ready > time_created;
CREATE INDEX IF NOT EXISTS workload_give_up ON workload (time_give_up, id) WHERE state = 'pending' AND time_give_up IS NOT NULL;
CREATE INDEX IF NOT EXISTS workload_placed ON workload (priority) WHERE state IN ('assigning', 'running', 'paused');
CREATE INDEX IF NOT EXISTS workload_array ON workload (array_id, array_index) WHERE array_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS placement_particular ON placement (node_id, id) WHERE is_released = FALSE AND reservation IS NOT NULL;
CREATE INDEX IF NOT EXISTS placement_project ON placement (project_id, cores_millis, memory) WHERE is_released = FALSE;
