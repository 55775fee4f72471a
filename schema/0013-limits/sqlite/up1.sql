-- unless secret.link
-- Where the value of a secret is that is kept in a vault outside; a JSON document.

ALTER TABLE secret ADD COLUMN link TEXT;
