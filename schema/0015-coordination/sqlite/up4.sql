-- unless event.payload
-- What events say to programs and what caused them; event hooks and what they deliver.

ALTER TABLE event ADD COLUMN payload TEXT;
ALTER TABLE event ADD COLUMN correlation TEXT;

CREATE TABLE IF NOT EXISTS event_hook (
    id TEXT NOT NULL PRIMARY KEY,
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    spec TEXT NOT NULL,
    principal_id TEXT NOT NULL,
    can TEXT,
    is_enabled INTEGER NOT NULL,
    after_sequence INTEGER NOT NULL,
    is_loop_told INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    UNIQUE (scope, name)
) STRICT;

-- one row: how far the events were looked at for hooks
CREATE TABLE IF NOT EXISTS hook_cursor (
    id TEXT NOT NULL PRIMARY KEY,
    sequence INTEGER NOT NULL
) STRICT;
INSERT INTO hook_cursor (id, sequence) VALUES ('hooks', 0) ON CONFLICT (id) DO NOTHING;

CREATE TABLE IF NOT EXISTS hook_delivery (
    hook_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    object TEXT NOT NULL,
    event TEXT NOT NULL,
    chain TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    claims INTEGER NOT NULL,
    time_due INTEGER NOT NULL,
    made TEXT,
    time_begun INTEGER,
    note TEXT NOT NULL,
    status INTEGER,
    time_created INTEGER NOT NULL,
    time_ended INTEGER,
    PRIMARY KEY (hook_id, sequence)
) STRICT;
CREATE INDEX IF NOT EXISTS hook_delivery_claim ON hook_delivery (hook_id, state, time_due, sequence);
CREATE INDEX IF NOT EXISTS hook_delivery_line ON hook_delivery (hook_id, object, state, sequence);
CREATE INDEX IF NOT EXISTS hook_delivery_due ON hook_delivery (state, time_due);
CREATE INDEX IF NOT EXISTS hook_delivery_ended ON hook_delivery (state, time_ended);

-- what hooks began, so that what comes of it is known to be theirs
CREATE TABLE IF NOT EXISTS hook_cause (
    id TEXT NOT NULL PRIMARY KEY,
    chain TEXT NOT NULL,
    time_created INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS hook_cause_old ON hook_cause (time_created);
