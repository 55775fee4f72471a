-- unless node_certificate.authority
-- Which authority issued a node's certificate, and when the node first came with it.

ALTER TABLE node_certificate ADD COLUMN authority TEXT;
ALTER TABLE node_certificate ADD COLUMN time_presented INTEGER;
