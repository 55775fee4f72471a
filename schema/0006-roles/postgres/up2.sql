-- What a token is limited to, besides its role and the one project: lists as JSON; absent is no limit.

ALTER TABLE token ADD COLUMN IF NOT EXISTS projects TEXT;
ALTER TABLE token ADD COLUMN IF NOT EXISTS permissions TEXT;
ALTER TABLE token ADD COLUMN IF NOT EXISTS sources TEXT;
