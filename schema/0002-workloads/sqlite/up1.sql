-- unless workload.kind
-- Services beside tasks: the same table, so that a name belongs to one of them only.

ALTER TABLE workload ADD COLUMN kind TEXT NOT NULL DEFAULT 'task';
ALTER TABLE workload ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;

