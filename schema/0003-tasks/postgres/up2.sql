-- How tasks wait. A task of an array has its spec there; its own is empty. Tasks of one class are alike
-- for placement; 0 is not known.

ALTER TABLE workload ADD COLUMN IF NOT EXISTS priority BIGINT NOT NULL DEFAULT 0;
ALTER TABLE workload ADD COLUMN IF NOT EXISTS class BIGINT NOT NULL DEFAULT 0;
ALTER TABLE workload ADD COLUMN IF NOT EXISTS array_id TEXT COLLATE "C";
ALTER TABLE workload ADD COLUMN IF NOT EXISTS array_index BIGINT;
ALTER TABLE workload ADD COLUMN IF NOT EXISTS attempts BIGINT NOT NULL DEFAULT 0;
ALTER TABLE workload ADD COLUMN IF NOT EXISTS time_ready BIGINT;
ALTER TABLE workload ADD COLUMN IF NOT EXISTS time_give_up BIGINT;
