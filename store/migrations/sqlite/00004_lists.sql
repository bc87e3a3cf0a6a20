-- +goose Up

-- What happened, newest first: of everybody, of one action, for one purchase. A customer's own stream is the primary key.
-- Most events take effect when they are recorded, so the order of the one is the order of the other; events_late has those
-- that were dated earlier by their effect.
CREATE INDEX events_recorded ON events (recorded_at, id);
CREATE INDEX events_action ON events (action, recorded_at, id);
CREATE INDEX events_late ON events (at, id) WHERE at < recorded_at;
CREATE INDEX events_transaction ON events (customer_id, transaction_id, id) WHERE transaction_id IS NOT NULL;
CREATE INDEX transactions_newest ON transactions (customer_id, created_at, checkout);

-- +goose Down
DROP INDEX transactions_newest;
DROP INDEX events_transaction;
DROP INDEX events_late;
DROP INDEX events_action;
DROP INDEX events_recorded;
