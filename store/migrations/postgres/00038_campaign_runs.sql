-- +goose Up

-- How often campaigns ran is counted by day: without a zone the past is folded anew.
UPDATE statistics SET zone = '';

-- +goose Down
SELECT 1;
