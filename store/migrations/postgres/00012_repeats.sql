-- +goose Up

-- The customer as an answer shows them, sealed apart from the rest of it.
ALTER TABLE answers ADD COLUMN block bytea;

-- Signatures of writes that were taken, for as long as they could be sent again (replay guard).
CREATE TABLE taken_signatures (
    signature  bytea PRIMARY KEY,
    good_until bigint NOT NULL
);
CREATE INDEX taken_signatures_until ON taken_signatures (good_until);

-- +goose Down
DROP TABLE taken_signatures;
ALTER TABLE answers DROP COLUMN block;
