-- +goose Up

-- The twin of a step of databases that are spread over machines.
SELECT 1;

-- +goose Down
SELECT 1;
