-- +goose Up

-- Statistics: what came together of each metric on each day of the programme's time zone, folded from the tail, and
-- photographs of what there was. See store/statistics.go. A key is what is broken down by, the currency and the name of
-- the part, with U+001F between them. Values are whole numbers written out, because what they add up to has no bound that
-- fits 64 bits; money is in 1/10,000 of a unit.
CREATE TABLE figures (
    metric TEXT NOT NULL,
    key    TEXT NOT NULL,
    day    INTEGER NOT NULL, -- since 1970-01-01
    value  TEXT NOT NULL,
    PRIMARY KEY (metric, key, day)
) STRICT, WITHOUT ROWID;

-- How much of a purchase was counted as given back: an event tells the sum of all its refunds.
CREATE TABLE figure_refunds (
    transaction_id TEXT PRIMARY KEY NOT NULL,
    refunded       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row, from the first fold on. Up to which number the tail was folded is in followers.
CREATE TABLE statistics (
    id              INTEGER PRIMARY KEY CHECK (id = 1),
    zone            TEXT NOT NULL,
    version         INTEGER NOT NULL, -- of the programme whose zone it is
    generation      INTEGER NOT NULL, -- grows when everything is folded anew
    photographed_at INTEGER
) STRICT;

-- +goose Down
DELETE FROM followers WHERE name = 'statistics';
DROP TABLE statistics;
DROP TABLE figure_refunds;
DROP TABLE figures;
