-- Placements without a run of their own (agents make the runs of services), and how they stand.

ALTER TABLE placement ALTER COLUMN run_id DROP NOT NULL;
ALTER TABLE placement ADD COLUMN IF NOT EXISTS revision BIGINT NOT NULL DEFAULT 0;
ALTER TABLE placement ADD COLUMN IF NOT EXISTS status TEXT;
ALTER TABLE placement ADD COLUMN IF NOT EXISTS status_generation BIGINT NOT NULL DEFAULT 0;

ALTER TABLE run ADD COLUMN IF NOT EXISTS cause TEXT;
ALTER TABLE run ADD COLUMN IF NOT EXISTS fire BIGINT;
