-- unless token.projects
-- What a token is limited to, besides its role and the one project: lists as JSON; absent is no limit.

ALTER TABLE token ADD COLUMN projects TEXT;
ALTER TABLE token ADD COLUMN permissions TEXT;
ALTER TABLE token ADD COLUMN sources TEXT;
