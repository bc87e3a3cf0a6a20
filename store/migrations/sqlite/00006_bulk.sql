-- +goose Up

-- Work on many things at once, which goes on after its request was answered. What one kind keeps from piece to piece is in progress.
CREATE TABLE bulk_operations (
    id          BLOB PRIMARY KEY NOT NULL,
    kind        TEXT NOT NULL,
    target      TEXT NOT NULL,
    state       TEXT NOT NULL,
    done        INTEGER NOT NULL, -- those that were refused included
    total       INTEGER NOT NULL,
    errors      INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    finished_at INTEGER,
    key_id      TEXT NOT NULL,
    parameters  TEXT,
    progress    TEXT,
    version     INTEGER NOT NULL
) STRICT;
CREATE INDEX bulk_operations_open ON bulk_operations (id) WHERE state <> 'done';
CREATE INDEX bulk_operations_finished ON bulk_operations (finished_at) WHERE finished_at IS NOT NULL;

-- Its customers: as the request named them, or as the members of a list. A name goes when its item is done, unless
-- the item was refused, and in any case when the customer leaves.
CREATE TABLE bulk_items (
    batch_id    BLOB NOT NULL,
    seq         INTEGER NOT NULL,
    customer    TEXT,
    customer_id BLOB,
    error       TEXT,
    done_at     INTEGER,
    PRIMARY KEY (batch_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX bulk_items_refused ON bulk_items (batch_id, seq) WHERE error IS NOT NULL;
CREATE INDEX bulk_items_customer ON bulk_items (customer) WHERE customer IS NOT NULL;

-- Who is on which customer list.
CREATE TABLE list_members (
    customer_id BLOB NOT NULL,
    list_id     TEXT NOT NULL,
    PRIMARY KEY (customer_id, list_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX list_members_list ON list_members (list_id, customer_id);

-- +goose Down
DROP TABLE list_members;
DROP TABLE bulk_items;
DROP TABLE bulk_operations;
