-- +goose Up

-- PostgreSQL has views for reports here; whoever reads this file directly has the tables.
SELECT 1;

-- +goose Down
SELECT 1;
