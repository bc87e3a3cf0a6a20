-- +goose Up
-- Each customer's journal is a chain of hashes: chain is its head, chain_from the first event in it where earlier ones
-- were written before there was a chain.
ALTER TABLE balances ADD COLUMN chain BLOB;
ALTER TABLE balances ADD COLUMN chain_from BLOB;

-- What the last anchor found, and the anchors: see store/chain_anchor.go.
CREATE TABLE anchored (
    customer_id BLOB PRIMARY KEY,
    event_id    BLOB NOT NULL,
    head        BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE anchors (
    number    INTEGER PRIMARY KEY,
    at        INTEGER NOT NULL,
    customers INTEGER NOT NULL,
    digest    BLOB NOT NULL
) STRICT;

-- +goose Down
DROP TABLE anchors;
DROP TABLE anchored;
ALTER TABLE balances DROP COLUMN chain_from;
ALTER TABLE balances DROP COLUMN chain;
