-- unless project.quota
-- What a project may hold, and its weight against others.

ALTER TABLE project ADD COLUMN quota TEXT NOT NULL DEFAULT '{}';
ALTER TABLE project ADD COLUMN weight INTEGER NOT NULL DEFAULT 1;
