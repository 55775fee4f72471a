-- Who people are at the identity provider: the issuer and what it calls them, never an address of theirs.
CREATE TABLE IF NOT EXISTS user_identity (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    principal_id TEXT NOT NULL REFERENCES principal (id),
    email TEXT NOT NULL,
    time_created INTEGER NOT NULL,
    time_last_used INTEGER,
    PRIMARY KEY (issuer, subject)
) STRICT;

CREATE INDEX IF NOT EXISTS user_identity_principal ON user_identity (principal_id, issuer, subject);
