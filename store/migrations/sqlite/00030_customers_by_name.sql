-- +goose Up

-- The list of customers by last name or e-mail goes status by status, those who have none last.
-- Events change neither of the columns: they cost an index nothing.
CREATE INDEX customers_by_last ON customers (status, COALESCE(last_key, char(1114111)), id);
CREATE INDEX customers_by_email ON customers (status, COALESCE(email_key, char(1114111)), id);

-- +goose Down
DROP INDEX customers_by_email;
DROP INDEX customers_by_last;
