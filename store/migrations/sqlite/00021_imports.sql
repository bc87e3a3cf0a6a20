-- +goose Up

-- What an item of a bulk operation is about, where the customer alone does not say it. It goes when the item is done.
ALTER TABLE bulk_items ADD COLUMN data TEXT;

-- What was taken over from other systems, kept for good so that no file is taken over twice. The id is that of the bulk operation.
CREATE TABLE imports (
    id         BLOB PRIMARY KEY NOT NULL,
    digest     TEXT NOT NULL,      -- of the files and how they were read
    total      INTEGER NOT NULL,   -- rows of all files
    staged     INTEGER NOT NULL,   -- so many of them are items
    created_at INTEGER NOT NULL,
    begun_at   INTEGER,            -- when its operation began; NULL: not yet
    key_id     TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX imports_digest ON imports (digest);

-- +goose Down
DROP TABLE imports;
ALTER TABLE bulk_items DROP COLUMN data;
