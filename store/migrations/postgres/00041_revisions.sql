-- +goose Up

-- How often a webhook's types and filter were changed, and by which of their revisions a delivery was decided: what waits when they change is judged
-- again. Why a delivery was skipped; nothing is known of those from before.
ALTER TABLE webhooks ADD COLUMN revision bigint NOT NULL DEFAULT 0;
ALTER TABLE deliveries ADD COLUMN revision bigint NOT NULL DEFAULT 0, ADD COLUMN reason text COLLATE "C";

-- +goose Down
ALTER TABLE deliveries DROP COLUMN revision, DROP COLUMN reason;
ALTER TABLE webhooks DROP COLUMN revision;
