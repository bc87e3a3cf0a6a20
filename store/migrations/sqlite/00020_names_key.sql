-- +goose Up

-- The key under which names are hashed that rows are found by, sealed under the master key: it stays the same when the master key
-- changes, because nobody can hash those names anew. Without a row it is derived from the master key.
CREATE TABLE names_key (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    sealed BLOB NOT NULL
) STRICT;

-- +goose Down
DROP TABLE names_key;
