-- Which authority issued a node's certificate, and when the node first came with it.

ALTER TABLE node_certificate ADD COLUMN IF NOT EXISTS authority TEXT;
ALTER TABLE node_certificate ADD COLUMN IF NOT EXISTS time_presented BIGINT;
