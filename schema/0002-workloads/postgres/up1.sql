-- Services beside tasks: the same table, so that a name belongs to one of them only.

ALTER TABLE workload ADD COLUMN IF NOT EXISTS kind TEXT NOT NULL DEFAULT 'task';
ALTER TABLE workload ADD COLUMN IF NOT EXISTS revision BIGINT NOT NULL DEFAULT 0;
