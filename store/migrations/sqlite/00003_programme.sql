-- +goose Up

CREATE INDEX customers_merged ON customers (merged_into) WHERE merged_into IS NOT NULL;

-- Where a customer stands with one thing of the programme: a tier, a challenge, a reward.
CREATE TABLE progress (
    customer_id BLOB NOT NULL,
    kind        INTEGER NOT NULL,
    key         TEXT NOT NULL,
    data        TEXT NOT NULL,
    due_at      INTEGER,
    PRIMARY KEY (customer_id, kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX progress_due ON progress (customer_id) WHERE due_at IS NOT NULL;

CREATE TABLE claims (
    customer_id BLOB NOT NULL,
    id          BLOB NOT NULL,
    reward      TEXT NOT NULL,
    state       TEXT NOT NULL,
    points      INTEGER NOT NULL, -- what it cost
    award       INTEGER NOT NULL, -- points that it gave
    coupon      TEXT,
    claimed_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    burn        TEXT,
    PRIMARY KEY (customer_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX claims_id ON claims (id);

-- A coupon's code is claimed in names, with the coupon as its owner.
CREATE TABLE coupons (
    id          BLOB PRIMARY KEY NOT NULL,
    code        TEXT NOT NULL,
    state       TEXT NOT NULL,
    customer_id BLOB,
    type        TEXT NOT NULL,
    value       INTEGER NOT NULL,
    balance     INTEGER NOT NULL,
    currency    TEXT NOT NULL,
    name        TEXT,
    pool        TEXT,
    reward      TEXT,
    cost        INTEGER NOT NULL,
    stores      TEXT,
    products    TEXT,
    created_at  INTEGER NOT NULL,
    claimed_at  INTEGER,
    redeemed_at INTEGER,
    expires_at  INTEGER,
    version     INTEGER NOT NULL,
    uses        TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX coupons_created ON coupons (created_at, id);
CREATE INDEX coupons_customer ON coupons (customer_id) WHERE customer_id IS NOT NULL;
CREATE INDEX coupons_free ON coupons (pool, id) WHERE state = 'created';

-- Counts that all customers share.
CREATE TABLE tallies (
    key   TEXT PRIMARY KEY NOT NULL,
    count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a programme is made of. Archived rows stay: history names them.
CREATE TABLE entities (
    type        TEXT NOT NULL,
    id          TEXT NOT NULL,
    data        TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    archived_at INTEGER,
    PRIMARY KEY (type, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX entities_created ON entities (type, created_at, id);

-- Work on the clock: one row a job, held by who does it until lease_until.
CREATE TABLE jobs (
    name        TEXT PRIMARY KEY NOT NULL,
    next_at     INTEGER NOT NULL, -- it is due from then on
    owner       TEXT,
    lease_until INTEGER,
    started_at  INTEGER,
    finished_at INTEGER,
    done        INTEGER NOT NULL, -- items of the last run, or of the one under way
    failed      INTEGER NOT NULL,
    result      TEXT, -- why the last run failed; NULL: it did not
    runs        INTEGER NOT NULL, -- that came to their end
    state       TEXT -- what a run leaves to the next one
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE jobs;
DROP TABLE entities;
DROP TABLE tallies;
DROP TABLE coupons;
DROP TABLE claims;
DROP TABLE progress;
DROP INDEX customers_merged;
