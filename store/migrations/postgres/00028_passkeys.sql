-- +goose Up

-- Passkeys of users: public keys, and what their devices said of them.
ALTER TABLE users ADD COLUMN passkeys text COLLATE "C";

-- What passkeys were asked to sign and did not yet: hashes, good once and for minutes.
CREATE TABLE challenges (
    token_hash bytea PRIMARY KEY,
    expires_at bigint NOT NULL
);
CREATE INDEX challenges_over ON challenges (expires_at);

-- +goose Down
DROP TABLE challenges;
ALTER TABLE users DROP COLUMN passkeys;
