-- +goose Up

-- Which events changed a coupon: the journal is kept by customer, and a coupon passes through several hands.
CREATE TABLE coupon_events (
    coupon_id   uuid NOT NULL,
    version     bigint NOT NULL, -- of the coupon, after the event
    customer_id uuid NOT NULL,
    event_id    uuid NOT NULL,
    recorded_at bigint NOT NULL, -- which month of the journal has it
    PRIMARY KEY (coupon_id, version)
);
-- Effects with \u0000 in some text cannot be read here; what is lost is a line of a history.
INSERT INTO coupon_events (coupon_id, version, customer_id, event_id, recorded_at)
SELECT (c.value ->> 'id')::uuid, (c.value ->> 'version')::bigint, e.customer_id, e.id, e.recorded_at
FROM events e, json_array_elements(e.effects::json -> 'coupons') c
WHERE e.effects LIKE '%"coupons":%' AND e.effects NOT LIKE '%\\u0000%';

-- The lists: of a pool, of a pool by state, by state, of a holder; each the newest first. coupons_stock counts a pool's
-- codes without looking at them.
CREATE INDEX coupons_pool ON coupons (pool, created_at, id) WHERE pool IS NOT NULL;
CREATE INDEX coupons_stock ON coupons (pool, state, created_at, id) INCLUDE (expires_at) WHERE pool IS NOT NULL;
CREATE INDEX coupons_state ON coupons (state, created_at, id);
CREATE INDEX coupons_expiring ON coupons (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX coupons_held ON coupons (customer_id, claimed_at, id) WHERE customer_id IS NOT NULL;
DROP INDEX coupons_customer;
CREATE INDEX claims_newest ON claims (customer_id, claimed_at, id);
CREATE INDEX customers_status ON customers (status, created_at, id);

-- +goose Down
DROP INDEX customers_status;
DROP INDEX claims_newest;
CREATE INDEX coupons_customer ON coupons (customer_id) WHERE customer_id IS NOT NULL;
DROP INDEX coupons_held;
DROP INDEX coupons_expiring;
DROP INDEX coupons_state;
DROP INDEX coupons_stock;
DROP INDEX coupons_pool;
DROP TABLE coupon_events;
