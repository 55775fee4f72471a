-- unless placement.reservation
-- What placements hold beyond cores and memory; the document is absent where there is nothing more.

ALTER TABLE placement ADD COLUMN disk INTEGER NOT NULL DEFAULT 0;
ALTER TABLE placement ADD COLUMN reservation TEXT;
