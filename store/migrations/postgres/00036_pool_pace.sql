-- +goose Up

-- The count of a pool's codes also says how many were given of late. It changes with the state, which the index has in any case.
CREATE INDEX coupons_counted ON coupons (pool, state, created_at, id) INCLUDE (expires_at, claimed_at) WHERE pool IS NOT NULL;
DROP INDEX coupons_stock;

-- +goose Down
CREATE INDEX coupons_stock ON coupons (pool, state, created_at, id) INCLUDE (expires_at) WHERE pool IS NOT NULL;
DROP INDEX coupons_counted;
