-- +goose Up

-- The codes of an upload that a bulk operation is to add to a pool, piece by piece; place is that of the first in the list. They
-- are kept before the operation is there, and deleted as they are added.
CREATE TABLE kept_codes (
    batch_id BLOB    NOT NULL,
    place    INTEGER NOT NULL,
    codes    TEXT    NOT NULL, -- a JSON list
    kept_at  INTEGER NOT NULL,
    PRIMARY KEY (batch_id, place)
) STRICT;

-- A code that such an operation refused, or so many at once from one place on.
ALTER TABLE bulk_items ADD COLUMN code TEXT;
ALTER TABLE bulk_items ADD COLUMN count INTEGER NOT NULL DEFAULT 1;

-- +goose Down
ALTER TABLE bulk_items DROP COLUMN count;
ALTER TABLE bulk_items DROP COLUMN code;
DROP TABLE kept_codes;
