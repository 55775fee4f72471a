-- Versions of images; their content is in the shared blobs.

CREATE TABLE IF NOT EXISTS image (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    digest BYTEA NOT NULL,
    size BIGINT NOT NULL,
    origin TEXT NOT NULL,
    created_by TEXT NOT NULL,
    time_created BIGINT NOT NULL,
    UNIQUE (name, version)
);

CREATE INDEX IF NOT EXISTS image_digest ON image (digest);

-- numbers that were used; they stay when versions go, so that none ever means two things
CREATE TABLE IF NOT EXISTS image_name (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    version_last BIGINT NOT NULL
);
