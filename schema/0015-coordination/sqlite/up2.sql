-- Locks, who holds them and who waits.

CREATE TABLE IF NOT EXISTS lock (
    id TEXT NOT NULL PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    slots INTEGER NOT NULL,
    held INTEGER NOT NULL,
    waiting INTEGER NOT NULL,
    place_last INTEGER NOT NULL,
    token_last INTEGER NOT NULL,
    past TEXT NOT NULL,
    generation INTEGER NOT NULL,
    time_created INTEGER NOT NULL,
    time_modified INTEGER NOT NULL,
    UNIQUE (project_id, name)
) STRICT;

-- those that nobody uses, by how long
CREATE INDEX IF NOT EXISTS lock_idle ON lock (time_modified) WHERE held = 0 AND waiting = 0;

-- without a token, it waits
CREATE TABLE IF NOT EXISTS lock_hold (
    id TEXT NOT NULL PRIMARY KEY,
    lock_id TEXT NOT NULL REFERENCES lock (id),
    principal_id TEXT NOT NULL,
    held_by TEXT NOT NULL,
    holder TEXT NOT NULL,
    place INTEGER NOT NULL,
    token INTEGER,
    is_taken INTEGER NOT NULL,
    ttl INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    time_asked INTEGER NOT NULL,
    time_granted INTEGER,
    time_renewed INTEGER NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS lock_hold_place ON lock_hold (lock_id, place);

-- no lock ever gives a token up to this: the largest that a lock which is gone had
CREATE TABLE IF NOT EXISTS lock_floor (
    id TEXT NOT NULL PRIMARY KEY,
    token INTEGER NOT NULL
) STRICT;
