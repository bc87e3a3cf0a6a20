-- +goose Up

-- What each campaign did in all. Writers only add to it, each to a slot of its own as a rule, so that none waits for another; the
-- figures of a campaign are the sum of its slots.
CREATE TABLE campaign_figures (
    campaign   text COLLATE "C" NOT NULL,
    slot       smallint NOT NULL,
    runs       bigint NOT NULL, -- times it gave something
    customers  bigint NOT NULL,
    points     bigint NOT NULL,
    taken_back bigint NOT NULL, -- of the points: by refunds
    coupons    bigint NOT NULL,
    labels     bigint NOT NULL,
    tiers      bigint NOT NULL,
    challenge  bigint NOT NULL, -- by how much it moved challenges
    first_at   bigint,
    last_at    bigint,
    PRIMARY KEY (campaign, slot)
) WITH (fillfactor = 50);

-- Whom a campaign gave something, themselves or as somebody who was merged into them.
CREATE TABLE campaign_customers (
    customer_id uuid NOT NULL,
    campaign    text COLLATE "C" NOT NULL,
    PRIMARY KEY (customer_id, campaign)
);

-- +goose Down
DROP TABLE campaign_customers, campaign_figures;
