-- +goose Up

-- The lines of a purchase of more than 64, 64 a row, so that a change of one of them does not write them all. A purchase
-- that was written before has them in its document, until it is written again: nothing is moved here.
CREATE TABLE purchase_lines (
    customer_id    BLOB NOT NULL,
    transaction_id TEXT NOT NULL,
    piece          INTEGER NOT NULL,
    lines          TEXT NOT NULL, -- a JSON array
    PRIMARY KEY (customer_id, transaction_id, piece)
) STRICT, WITHOUT ROWID;

-- How many rows of them a purchase has; 0: its lines are in its document, which has their number in their place otherwise.
ALTER TABLE transactions ADD COLUMN pieces INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE transactions DROP COLUMN pieces;
DROP TABLE purchase_lines;
