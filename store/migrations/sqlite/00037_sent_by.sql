-- +goose Up

-- Whose request an event came of: an access key's id, what stands in its place, or nothing. A column without a value is made in the schema alone.
-- No index: it is looked at while the feed is walked.
ALTER TABLE events ADD COLUMN sent_by TEXT;

-- +goose Down
ALTER TABLE events DROP COLUMN sent_by;
