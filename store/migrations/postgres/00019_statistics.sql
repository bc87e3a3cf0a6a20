-- +goose Up

-- Statistics: what came together of each metric on each day of the programme's time zone, folded from the tail, and
-- photographs of what there was. See store/statistics.go. A key is what is broken down by, the currency and the name of
-- the part, with U+001F between them. Values are whole numbers written out, because what they add up to has no bound that
-- fits 64 bits; money is in 1/10,000 of a unit.
CREATE TABLE figures (
    metric text COLLATE "C" NOT NULL,
    key    text COLLATE "C" NOT NULL,
    day    integer NOT NULL, -- since 1970-01-01
    value  text COLLATE "C" NOT NULL,
    PRIMARY KEY (metric, key, day)
);

-- How much of a purchase was counted as given back: an event tells the sum of all its refunds.
CREATE TABLE figure_refunds (
    transaction_id text COLLATE "C" PRIMARY KEY NOT NULL,
    refunded       bigint NOT NULL
);

-- One row, from the first fold on. Up to which number the tail was folded is in followers.
CREATE TABLE statistics (
    id              smallint PRIMARY KEY CHECK (id = 1),
    zone            text COLLATE "C" NOT NULL,
    version         bigint NOT NULL, -- of the programme whose zone it is
    generation      bigint NOT NULL, -- grows when everything is folded anew
    photographed_at bigint
);

-- +goose Down
DELETE FROM followers WHERE name = 'statistics';
DROP TABLE statistics;
DROP TABLE figure_refunds;
DROP TABLE figures;
