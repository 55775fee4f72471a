-- unless workload.priority
-- How tasks wait. A task of an array has its spec there; its own is empty. Tasks of one class are alike
-- for placement; 0 is not known.

ALTER TABLE workload ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workload ADD COLUMN class INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workload ADD COLUMN array_id TEXT;
ALTER TABLE workload ADD COLUMN array_index INTEGER;
ALTER TABLE workload ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE workload ADD COLUMN time_ready INTEGER;
ALTER TABLE workload ADD COLUMN time_give_up INTEGER;
