-- Who people are at the identity provider: the issuer and what it calls them, never an address of theirs.
CREATE TABLE IF NOT EXISTS user_identity (
    issuer TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    principal_id TEXT COLLATE "C" NOT NULL REFERENCES principal (id),
    email TEXT NOT NULL,
    time_created BIGINT NOT NULL,
    time_last_used BIGINT,
    PRIMARY KEY (issuer, subject)
);

CREATE INDEX IF NOT EXISTS user_identity_principal ON user_identity (principal_id, issuer, subject);
