-- +goose Up

-- How often a webhook's types and filter were changed, and by which of their revisions a delivery was decided: what waits when they change is judged
-- again. Why a delivery was skipped; nothing is known of those from before.
ALTER TABLE webhooks ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deliveries ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deliveries ADD COLUMN reason TEXT;

-- +goose Down
ALTER TABLE deliveries DROP COLUMN reason;
ALTER TABLE deliveries DROP COLUMN revision;
ALTER TABLE webhooks DROP COLUMN revision;
