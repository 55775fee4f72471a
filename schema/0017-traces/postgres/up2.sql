-- The trace that an execution was begun in, as a W3C `traceparent`: the tasks of its steps are part of it.

ALTER TABLE execution ADD COLUMN IF NOT EXISTS trace TEXT;
