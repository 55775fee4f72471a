-- Schedules of the control plane, and what became of their times.

CREATE TABLE IF NOT EXISTS schedule (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES project (id),
    name TEXT COLLATE "C" NOT NULL,
    spec TEXT NOT NULL,
    created_by TEXT NOT NULL,
    mandate_principal TEXT NOT NULL,
    mandate_can TEXT,
    pause TEXT,
    log TEXT NOT NULL,
    turn BIGINT NOT NULL,
    made TEXT,
    time_made BIGINT,
    time_due BIGINT,
    time_next BIGINT,
    generation BIGINT NOT NULL,
    time_created BIGINT NOT NULL,
    time_modified BIGINT NOT NULL,
    UNIQUE (project_id, name)
);

CREATE INDEX IF NOT EXISTS schedule_due ON schedule (time_due, id) WHERE time_due IS NOT NULL;

-- one row for every time of a schedule; a missed one may stand for a stretch of them
CREATE TABLE IF NOT EXISTS schedule_fire (
    schedule_id TEXT COLLATE "C" NOT NULL REFERENCES schedule (id),
    time BIGINT NOT NULL,
    project_id TEXT COLLATE "C" NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    cause TEXT NOT NULL,
    time_planned BIGINT NOT NULL,
    time_begun BIGINT NOT NULL,
    time_ended BIGINT,
    time_last BIGINT NOT NULL,
    count BIGINT NOT NULL,
    object TEXT,
    status BIGINT,
    message TEXT NOT NULL,
    replaces TEXT,
    asked_by TEXT,
    is_call BOOLEAN NOT NULL,
    tries BIGINT NOT NULL,
    server_id TEXT COLLATE "C" NOT NULL,
    time_lease BIGINT NOT NULL,
    PRIMARY KEY (schedule_id, time)
);

CREATE INDEX IF NOT EXISTS schedule_fire_begun ON schedule_fire (is_call, time_lease, schedule_id, time) WHERE state = 'begun';

CREATE INDEX IF NOT EXISTS schedule_fire_time ON schedule_fire (time, schedule_id);
