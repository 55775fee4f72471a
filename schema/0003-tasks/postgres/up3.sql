-- What placements hold beyond cores and memory; the document is absent where there is nothing more.

ALTER TABLE placement ADD COLUMN IF NOT EXISTS disk BIGINT NOT NULL DEFAULT 0;
ALTER TABLE placement ADD COLUMN IF NOT EXISTS reservation TEXT;
