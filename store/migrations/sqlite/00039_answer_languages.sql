-- +goose Up

-- A repeated answer names the languages of its texts, as the first one did. Rows from before do not know them.
ALTER TABLE answers ADD COLUMN language text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE answers DROP COLUMN language;
