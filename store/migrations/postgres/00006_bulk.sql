-- +goose Up

-- Work on many things at once, which goes on after its request was answered. What one kind keeps from piece to piece is in progress.
CREATE TABLE bulk_operations (
    id          uuid PRIMARY KEY,
    kind        text COLLATE "C" NOT NULL,
    target      text COLLATE "C" NOT NULL,
    state       text COLLATE "C" NOT NULL,
    done        bigint NOT NULL, -- those that were refused included
    total       bigint NOT NULL,
    errors      bigint NOT NULL,
    created_at  bigint NOT NULL,
    finished_at bigint,
    key_id      text COLLATE "C" NOT NULL,
    parameters  text COLLATE "C",
    progress    text COLLATE "C",
    version     bigint NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX bulk_operations_open ON bulk_operations (id) WHERE state <> 'done';
CREATE INDEX bulk_operations_finished ON bulk_operations (finished_at) WHERE finished_at IS NOT NULL;

-- Its customers: as the request named them, or as the members of a list. A name goes when its item is done, unless
-- the item was refused, and in any case when the customer leaves.
CREATE TABLE bulk_items (
    batch_id    uuid NOT NULL,
    seq         integer NOT NULL,
    customer    text COLLATE "C",
    customer_id uuid,
    error       text COLLATE "C",
    done_at     bigint,
    PRIMARY KEY (batch_id, seq)
) WITH (fillfactor = 80);
CREATE INDEX bulk_items_refused ON bulk_items (batch_id, seq) WHERE error IS NOT NULL;
CREATE INDEX bulk_items_customer ON bulk_items (customer) WHERE customer IS NOT NULL;
ALTER TABLE bulk_items ALTER customer SET STATISTICS 0;

-- Who is on which customer list.
CREATE TABLE list_members (
    customer_id uuid NOT NULL,
    list_id     text COLLATE "C" NOT NULL,
    PRIMARY KEY (customer_id, list_id)
);
CREATE INDEX list_members_list ON list_members (list_id, customer_id);

-- +goose Down
DROP TABLE list_members, bulk_items, bulk_operations;
