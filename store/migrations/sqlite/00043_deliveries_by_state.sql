-- +goose Up

-- A database from before migration 22 had its present form has another index of deliveries. The backlog of webhooks is read by this one, by
-- name on SQLite, which refuses the statement where it is not there. Where it is, nothing is done.
CREATE INDEX IF NOT EXISTS deliveries_state ON deliveries (webhook_id, state, number);
DROP INDEX IF EXISTS deliveries_dead;

-- +goose Down
SELECT 1;
