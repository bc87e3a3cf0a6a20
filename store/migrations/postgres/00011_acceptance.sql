-- +goose Up

-- pending_days goes with accept and reject only.
UPDATE modules SET config = '{"type":"manual"}' WHERE name = 'checkout_accept' AND config LIKE '{"type":"manual",%';
-- 0 days meant never and means at once now: the longest time comes nearest to what was meant.
UPDATE modules SET config = replace(config, '"days":0}', '"days":3650}') WHERE name = 'pending_events';

-- +goose Down
SELECT 1;
