-- +goose Up

-- Only SQLite kept wide rows in the tree of their keys.
SELECT 1;

-- +goose Down
SELECT 1;
