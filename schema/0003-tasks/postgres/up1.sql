-- What a project may hold, and its weight against others.

ALTER TABLE project ADD COLUMN IF NOT EXISTS quota TEXT NOT NULL DEFAULT '{}';
ALTER TABLE project ADD COLUMN IF NOT EXISTS weight BIGINT NOT NULL DEFAULT 1;
