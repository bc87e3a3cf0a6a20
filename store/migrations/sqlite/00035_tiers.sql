-- +goose Up

-- Who has a tier, for the list of customers. Made by the database of what the row says, so that no program can leave it behind.
ALTER TABLE progress ADD COLUMN tier TEXT GENERATED ALWAYS AS (CASE WHEN kind = 1 THEN json_extract(data, '$.tier') END) VIRTUAL;
CREATE INDEX progress_tier ON progress (tier, customer_id) WHERE tier IS NOT NULL;

-- +goose Down
DROP INDEX progress_tier;
ALTER TABLE progress DROP COLUMN tier;
