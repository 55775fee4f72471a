-- The head of the journal, before anything has happened.

INSERT INTO journal_head (id, event_floor, event_sequence, audit_sequence, audit_hash)
VALUES ('journal', 0, 0, 0, x'0000000000000000000000000000000000000000000000000000000000000000')
ON CONFLICT (id) DO NOTHING;
