-- What an object was before and after a change, as digests.

ALTER TABLE audit_entry ADD COLUMN IF NOT EXISTS digest_before BYTEA;
ALTER TABLE audit_entry ADD COLUMN IF NOT EXISTS digest_after BYTEA;
