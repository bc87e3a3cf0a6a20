-- +goose Up

CREATE INDEX customers_merged ON customers (merged_into) WHERE merged_into IS NOT NULL;

-- Where a customer stands with one thing of the programme: a tier, a challenge, a reward.
CREATE TABLE progress (
    customer_id uuid NOT NULL,
    kind        smallint NOT NULL,
    key         text COLLATE "C" NOT NULL,
    data        text COLLATE "C" NOT NULL,
    due_at      bigint,
    PRIMARY KEY (customer_id, kind, key)
) WITH (fillfactor = 90);
CREATE INDEX progress_due ON progress (customer_id) WHERE due_at IS NOT NULL;

CREATE TABLE claims (
    customer_id uuid NOT NULL,
    id          uuid NOT NULL,
    reward      text COLLATE "C" NOT NULL,
    state       text COLLATE "C" NOT NULL,
    points      bigint NOT NULL, -- what it cost
    award       bigint NOT NULL, -- points that it gave
    coupon      text COLLATE "C",
    claimed_at  bigint NOT NULL,
    updated_at  bigint NOT NULL,
    burn        text COLLATE "C",
    PRIMARY KEY (customer_id, id)
);
CREATE INDEX claims_id ON claims (id);

-- A coupon's code is claimed in names, with the coupon as its owner.
CREATE TABLE coupons (
    id          uuid PRIMARY KEY,
    code        text COLLATE "C" NOT NULL,
    state       text COLLATE "C" NOT NULL,
    customer_id uuid,
    type        text COLLATE "C" NOT NULL,
    value       bigint NOT NULL,
    balance     bigint NOT NULL,
    currency    text COLLATE "C" NOT NULL,
    name        text COLLATE "C",
    pool        text COLLATE "C",
    reward      text COLLATE "C",
    cost        bigint NOT NULL,
    stores      text COLLATE "C",
    products    text COLLATE "C",
    created_at  bigint NOT NULL,
    claimed_at  bigint,
    redeemed_at bigint,
    expires_at  bigint,
    version     bigint NOT NULL,
    uses        text COLLATE "C"
);
CREATE INDEX coupons_created ON coupons (created_at, id);
CREATE INDEX coupons_customer ON coupons (customer_id) WHERE customer_id IS NOT NULL;
CREATE INDEX coupons_free ON coupons (pool, id) WHERE state = 'created';

-- Counts that all customers share.
CREATE TABLE tallies (
    key   text COLLATE "C" PRIMARY KEY,
    count bigint NOT NULL
) WITH (fillfactor = 50);

-- What a programme is made of. Archived rows stay: history names them.
CREATE TABLE entities (
    type        text COLLATE "C" NOT NULL,
    id          text COLLATE "C" NOT NULL,
    data        text COLLATE "C" NOT NULL,
    created_at  bigint NOT NULL,
    updated_at  bigint NOT NULL,
    archived_at bigint,
    PRIMARY KEY (type, id)
);
CREATE INDEX entities_created ON entities (type, created_at, id);

-- Work on the clock: one row a job, held by who does it until lease_until.
CREATE TABLE jobs (
    name        text COLLATE "C" PRIMARY KEY,
    next_at     bigint NOT NULL, -- it is due from then on
    owner       text COLLATE "C",
    lease_until bigint,
    started_at  bigint,
    finished_at bigint,
    done        bigint NOT NULL, -- items of the last run, or of the one under way
    failed      bigint NOT NULL,
    result      text COLLATE "C", -- why the last run failed; NULL: it did not
    runs        bigint NOT NULL, -- that came to their end
    state       text COLLATE "C" -- what a run leaves to the next one
);

-- ANALYZE keeps samples of what it reads, and opt_out cannot reach them: of what names a person, and of their
-- keys, it takes none.
ALTER TABLE customers
    ALTER name SET STATISTICS 0, ALTER handler SET STATISTICS 0, ALTER email SET STATISTICS 0, ALTER first_name SET STATISTICS 0,
    ALTER last_name SET STATISTICS 0, ALTER gender SET STATISTICS 0, ALTER image_url SET STATISTICS 0, ALTER birth_date SET STATISTICS 0,
    ALTER labels SET STATISTICS 0, ALTER external_ids SET STATISTICS 0, ALTER custom SET STATISTICS 0, ALTER handler_key SET STATISTICS 0,
    ALTER email_key SET STATISTICS 0, ALTER first_key SET STATISTICS 0, ALTER last_key SET STATISTICS 0;
ALTER TABLE names ALTER value SET STATISTICS 0;
ALTER TABLE customer_keys ALTER sealed SET STATISTICS 0;

-- +goose Down
ALTER TABLE customers
    ALTER name SET STATISTICS -1, ALTER handler SET STATISTICS -1, ALTER email SET STATISTICS -1, ALTER first_name SET STATISTICS -1,
    ALTER last_name SET STATISTICS -1, ALTER gender SET STATISTICS -1, ALTER image_url SET STATISTICS -1, ALTER birth_date SET STATISTICS -1,
    ALTER labels SET STATISTICS -1, ALTER external_ids SET STATISTICS -1, ALTER custom SET STATISTICS -1, ALTER handler_key SET STATISTICS -1,
    ALTER email_key SET STATISTICS -1, ALTER first_key SET STATISTICS -1, ALTER last_key SET STATISTICS -1;
ALTER TABLE names ALTER value SET STATISTICS -1;
ALTER TABLE customer_keys ALTER sealed SET STATISTICS -1;
DROP TABLE jobs, entities, tallies, coupons, claims, progress;
DROP INDEX customers_merged;
