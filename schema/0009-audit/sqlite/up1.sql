-- unless audit_entry.digest_before
-- What an object was before and after a change, as digests.

ALTER TABLE audit_entry ADD COLUMN digest_before BLOB;
ALTER TABLE audit_entry ADD COLUMN digest_after BLOB;
