-- +goose Up

-- What a lot was given for (points.Origin). 0: it was opened before this was kept; the journal knows, and is not read for it here.
ALTER TABLE lots ADD COLUMN origin INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE lots DROP COLUMN origin;
