-- Locks, who holds them and who waits.

CREATE TABLE IF NOT EXISTS lock (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    project_id TEXT COLLATE "C" NOT NULL REFERENCES project (id),
    name TEXT COLLATE "C" NOT NULL,
    slots BIGINT NOT NULL,
    held BIGINT NOT NULL,
    waiting BIGINT NOT NULL,
    place_last BIGINT NOT NULL,
    token_last BIGINT NOT NULL,
    past TEXT NOT NULL,
    generation BIGINT NOT NULL,
    time_created BIGINT NOT NULL,
    time_modified BIGINT NOT NULL,
    UNIQUE (project_id, name)
);

-- those that nobody uses, by how long
CREATE INDEX IF NOT EXISTS lock_idle ON lock (time_modified) WHERE held = 0 AND waiting = 0;

-- without a token, it waits
CREATE TABLE IF NOT EXISTS lock_hold (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    lock_id TEXT COLLATE "C" NOT NULL REFERENCES lock (id),
    principal_id TEXT COLLATE "C" NOT NULL,
    held_by TEXT NOT NULL,
    holder TEXT NOT NULL,
    place BIGINT NOT NULL,
    token BIGINT,
    is_taken BOOLEAN NOT NULL,
    ttl BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    time_asked BIGINT NOT NULL,
    time_granted BIGINT,
    time_renewed BIGINT NOT NULL
);

CREATE INDEX IF NOT EXISTS lock_hold_place ON lock_hold (lock_id, place);

-- no lock ever gives a token up to this: the largest that a lock which is gone had
CREATE TABLE IF NOT EXISTS lock_floor (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    token BIGINT NOT NULL
);
