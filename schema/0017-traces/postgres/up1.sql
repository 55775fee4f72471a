-- The trace that an array was submitted in, as a W3C `traceparent`: its tasks are made later, and are part of it.

ALTER TABLE task_array ADD COLUMN IF NOT EXISTS trace TEXT;
