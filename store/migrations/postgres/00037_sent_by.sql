-- +goose Up

-- Whose request an event came of: an access key's id, what stands in its place, or nothing. A column without a value is made in the catalogue alone,
-- in the months of the journal too. No index: it is looked at while the feed is walked.
ALTER TABLE events ADD COLUMN sent_by text COLLATE "C";

-- +goose Down
ALTER TABLE events DROP COLUMN sent_by;
