-- +goose Up

-- The codes of an upload that a bulk operation is to add to a pool, piece by piece; place is that of the first in the list. They
-- are kept before the operation is there, and deleted as they are added.
CREATE TABLE kept_codes (
    batch_id uuid   NOT NULL,
    place    bigint NOT NULL,
    codes    text COLLATE "C" NOT NULL, -- a JSON list
    kept_at  bigint NOT NULL,
    PRIMARY KEY (batch_id, place)
);

-- A code that such an operation refused, or so many at once from one place on.
ALTER TABLE bulk_items ADD COLUMN code text COLLATE "C", ADD COLUMN count bigint NOT NULL DEFAULT 1;

-- +goose Down
ALTER TABLE bulk_items DROP COLUMN code, DROP COLUMN count;
DROP TABLE kept_codes;
