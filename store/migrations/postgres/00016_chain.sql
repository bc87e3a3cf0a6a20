-- +goose Up
-- Each customer's journal is a chain of hashes: chain is its head, chain_from the first event in it where earlier ones
-- were written before there was a chain.
ALTER TABLE balances ADD COLUMN chain bytea, ADD COLUMN chain_from uuid;

-- What the last anchor found, and the anchors: see store/chain_anchor.go.
CREATE TABLE anchored (
    customer_id uuid PRIMARY KEY,
    event_id    uuid NOT NULL,
    head        bytea NOT NULL
);
CREATE TABLE anchors (
    number    bigint PRIMARY KEY,
    at        bigint NOT NULL,
    customers bigint NOT NULL,
    digest    bytea NOT NULL
);

-- +goose Down
DROP TABLE anchors, anchored;
ALTER TABLE balances DROP COLUMN chain, DROP COLUMN chain_from;
