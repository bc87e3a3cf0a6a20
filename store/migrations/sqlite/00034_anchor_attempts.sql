-- +goose Up

-- A head that an anchor notes stands beside the one of the anchor before until the anchor is there: number is the
-- anchor that found it, kept_event and kept_head are what the one before found. See store/chain_anchor.go.
ALTER TABLE anchored ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
ALTER TABLE anchored ADD COLUMN kept_event BLOB;
ALTER TABLE anchored ADD COLUMN kept_head BLOB;

-- Which run may write the heads of an anchor: the one that began last.
CREATE TABLE anchoring (
    number  INTEGER PRIMARY KEY,
    attempt BLOB NOT NULL
) STRICT;

-- Hashes are nothing to be found by: who has opted out is found by no search.
UPDATE customers SET handler_key = NULL, email_key = NULL, first_key = NULL, last_key = NULL WHERE status = 'opted_out';

-- +goose Down
DROP TABLE anchoring;
ALTER TABLE anchored DROP COLUMN kept_head;
ALTER TABLE anchored DROP COLUMN kept_event;
ALTER TABLE anchored DROP COLUMN number;
