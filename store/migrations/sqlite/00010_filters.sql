-- +goose Up

-- Customers of a language or a currency, and coupons of a type, in the order of their lists.
CREATE INDEX customers_language ON customers (language, created_at, id);
CREATE INDEX customers_currency ON customers (currency, created_at, id);
CREATE INDEX coupons_type ON coupons (type, created_at, id);

-- +goose Down
DROP INDEX coupons_type;
DROP INDEX customers_currency;
DROP INDEX customers_language;
