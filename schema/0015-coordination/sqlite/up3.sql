-- Schedules of the control plane, and what became of their times.

CREATE TABLE IF NOT EXISTS schedule (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    spec TEXT NOT NULL,
    created_by TEXT NOT NULL,
    mandate_principal TEXT NOT NULL,
    mandate_can TEXT,
    pause TEXT,
    log TEXT NOT NULL,
    turn INTEGER NOT NULL,
    made TEXT,
    time_made INTEGER,
    time_due INTEGER,
    time_next INTEGER,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    UNIQUE (project_id, name)
) STRICT;

CREATE INDEX IF NOT EXISTS schedule_due ON schedule (time_due, id) WHERE time_due IS NOT NULL;

-- one row for every time of a schedule; a missed one may stand for a stretch of them
CREATE TABLE IF NOT EXISTS schedule_fire (
    schedule_id TEXT NOT NULL REFERENCES schedule (id),
    time INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    state TEXT NOT NULL,
    cause TEXT NOT NULL,
    time_planned INTEGER NOT NULL,
    time_begun INTEGER NOT NULL,
    time_ended INTEGER,
    time_last INTEGER NOT NULL,
    count INTEGER NOT NULL,
    object TEXT,
    status INTEGER,
    message TEXT NOT NULL,
    replaces TEXT,
    asked_by TEXT,
    is_call INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    server_id TEXT NOT NULL,
    time_lease INTEGER NOT NULL,
    PRIMARY KEY (schedule_id, time)
) STRICT;

CREATE INDEX IF NOT EXISTS schedule_fire_begun ON schedule_fire (is_call, time_lease, schedule_id, time) WHERE state = 'begun';

CREATE INDEX IF NOT EXISTS schedule_fire_time ON schedule_fire (time, schedule_id);
