-- Versions of images; their content is in the shared blobs.

CREATE TABLE IF NOT EXISTS image (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    digest BLOB NOT NULL,
    size INTEGER NOT NULL,
    origin TEXT NOT NULL,
    created_by TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    UNIQUE (name, version)
) STRICT;

CREATE INDEX IF NOT EXISTS image_digest ON image (digest);

-- numbers that were used; they stay when versions go, so that none ever means two things
CREATE TABLE IF NOT EXISTS image_name (
    name TEXT NOT NULL PRIMARY KEY,
    version_last INTEGER NOT NULL
) STRICT;
