-- +goose Up

-- What an item of a bulk operation is about, where the customer alone does not say it. It goes when the item is done.
ALTER TABLE bulk_items ADD COLUMN data text COLLATE "C";

-- What was taken over from other systems, kept for good so that no file is taken over twice. The id is that of the bulk operation.
CREATE TABLE imports (
    id         uuid PRIMARY KEY,
    digest     text COLLATE "C" NOT NULL, -- of the files and how they were read
    total      bigint NOT NULL,           -- rows of all files
    staged     bigint NOT NULL,           -- so many of them are items
    created_at bigint NOT NULL,
    begun_at   bigint,                    -- when its operation began; NULL: not yet
    key_id     text COLLATE "C" NOT NULL
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX imports_digest ON imports (digest);

-- +goose Down
DROP TABLE imports;
ALTER TABLE bulk_items DROP COLUMN data;
