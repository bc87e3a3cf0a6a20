-- +goose Up

-- A value that only the programme's master key opens, so that a node with another one stops before it seals anything.
CREATE TABLE master_check (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    sealed BLOB NOT NULL
) STRICT;

-- +goose Down
DROP TABLE master_check;
