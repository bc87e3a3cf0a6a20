-- +goose Up

-- Sign-ins that failed, by network, and the browsers that have signed in (hashes of their cookies), so that a stranger's wrong
-- passwords do not keep a user out. What failed before is forgotten once.
ALTER TABLE users ADD COLUMN tries text COLLATE "C";
ALTER TABLE users ADD COLUMN browsers text COLLATE "C";
UPDATE users SET failures = 0, locked_until = NULL WHERE failures > 0;

-- +goose Down
ALTER TABLE users DROP COLUMN browsers;
ALTER TABLE users DROP COLUMN tries;
