-- unless event.payload
-- What events say to programs and what caused them; event hooks and what they deliver.

ALTER TABLE event ADD COLUMN payload TEXT;
ALTER TABLE event ADD COLUMN correlation TEXT COLLATE "C";

CREATE TABLE IF NOT EXISTS event_hook (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    scope TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    spec TEXT NOT NULL,
    principal_id TEXT COLLATE "C" NOT NULL,
    can TEXT,
    is_enabled BOOLEAN NOT NULL,
    after_sequence BIGINT NOT NULL,
    is_loop_told BOOLEAN NOT NULL,
    generation BIGINT NOT NULL,
    time_created BIGINT NOT NULL,
    time_modified BIGINT NOT NULL,
    UNIQUE (scope, name)
);

-- one row: how far the events were looked at for hooks
CREATE TABLE IF NOT EXISTS hook_cursor (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    sequence BIGINT NOT NULL
);
INSERT INTO hook_cursor (id, sequence) VALUES ('hooks', 0) ON CONFLICT (id) DO NOTHING;

CREATE TABLE IF NOT EXISTS hook_delivery (
    hook_id TEXT COLLATE "C" NOT NULL,
    sequence BIGINT NOT NULL,
    object TEXT COLLATE "C" NOT NULL,
    event TEXT NOT NULL,
    chain TEXT NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    attempts BIGINT NOT NULL,
    claims BIGINT NOT NULL,
    time_due BIGINT NOT NULL,
    made TEXT,
    time_begun BIGINT,
    note TEXT NOT NULL,
    status BIGINT,
    time_created BIGINT NOT NULL,
    time_ended BIGINT,
    PRIMARY KEY (hook_id, sequence)
);
CREATE INDEX IF NOT EXISTS hook_delivery_claim ON hook_delivery (hook_id, state, time_due, sequence);
CREATE INDEX IF NOT EXISTS hook_delivery_line ON hook_delivery (hook_id, object, state, sequence);
CREATE INDEX IF NOT EXISTS hook_delivery_due ON hook_delivery (state, time_due);
CREATE INDEX IF NOT EXISTS hook_delivery_ended ON hook_delivery (state, time_ended);

-- what hooks began, so that what comes of it is known to be theirs
CREATE TABLE IF NOT EXISTS hook_cause (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    chain TEXT NOT NULL,
    time_created BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS hook_cause_old ON hook_cause (time_created);
