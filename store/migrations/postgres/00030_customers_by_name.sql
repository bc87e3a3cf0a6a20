-- +goose Up

-- The list of customers by last name or e-mail goes status by status, those who have none last.
-- Events change neither of the columns: they cost an index nothing.
CREATE INDEX customers_by_last ON customers (status, COALESCE(last_key, U&'\+10FFFF'), id);
CREATE INDEX customers_by_email ON customers (status, COALESCE(email_key, U&'\+10FFFF'), id);

-- Whoever leaves must not stay in what the planner knows: an index of an expression has statistics of its own.
ALTER INDEX customers_by_last ALTER COLUMN 2 SET STATISTICS 0;
ALTER INDEX customers_by_email ALTER COLUMN 2 SET STATISTICS 0;

-- +goose Down
DROP INDEX customers_by_email;
DROP INDEX customers_by_last;
