-- +goose Up

-- What each campaign did in all. Writers only add to it, each to a slot of its own as a rule, so that none waits for another; the
-- figures of a campaign are the sum of its slots.
CREATE TABLE campaign_figures (
    campaign   TEXT NOT NULL,
    slot       INTEGER NOT NULL,
    runs       INTEGER NOT NULL, -- times it gave something
    customers  INTEGER NOT NULL,
    points     INTEGER NOT NULL,
    taken_back INTEGER NOT NULL, -- of the points: by refunds
    coupons    INTEGER NOT NULL,
    labels     INTEGER NOT NULL,
    tiers      INTEGER NOT NULL,
    challenge  INTEGER NOT NULL, -- by how much it moved challenges
    first_at   INTEGER,
    last_at    INTEGER,
    PRIMARY KEY (campaign, slot)
) STRICT, WITHOUT ROWID;

-- Whom a campaign gave something, themselves or as somebody who was merged into them.
CREATE TABLE campaign_customers (
    customer_id BLOB NOT NULL,
    campaign    TEXT NOT NULL,
    PRIMARY KEY (customer_id, campaign)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE campaign_customers;
DROP TABLE campaign_figures;
