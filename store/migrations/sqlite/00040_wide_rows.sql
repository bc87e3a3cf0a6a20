-- +goose Up

-- Rows of these tables can be wide: an event has what its caller sent. In a tree of keys that also has the rows a search
-- compares with whole rows on its way, and one with a purchase of 5,000 lines was read through each time (100 ms for the
-- inserts of another such purchase, for which everybody waited); rows of an ordinary width make the tree deep. As rowid
-- tables they are in the order in which they came, and the keys in a narrow tree of their own.

CREATE TABLE events_moved (
    customer_id    BLOB NOT NULL,
    id             BLOB NOT NULL,
    recorded_at    INTEGER NOT NULL,
    at             INTEGER NOT NULL,
    points         INTEGER,
    exp_date       INTEGER,
    parent         BLOB,
    action         TEXT NOT NULL,
    transaction_id TEXT,
    data           TEXT,
    personal       BLOB,
    effects        TEXT,
    sent_by        TEXT,
    PRIMARY KEY (customer_id, id, recorded_at)
) STRICT;
INSERT INTO events_moved (customer_id, id, recorded_at, at, points, exp_date, parent, action, transaction_id, data, personal, effects, sent_by)
SELECT customer_id, id, recorded_at, at, points, exp_date, parent, action, transaction_id, data, personal, effects, sent_by FROM events;
DROP TABLE events;
ALTER TABLE events_moved RENAME TO events;
CREATE INDEX events_recorded ON events (recorded_at, id);
CREATE INDEX events_action ON events (action, recorded_at, id);
CREATE INDEX events_late ON events (at, id) WHERE at < recorded_at;
CREATE INDEX events_transaction ON events (customer_id, transaction_id, id) WHERE transaction_id IS NOT NULL;
-- +goose StatementBegin
CREATE TRIGGER events_update BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only: UPDATE of events is refused');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER events_delete BEFORE DELETE ON events
BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only: DELETE of events is refused');
END;
-- +goose StatementEnd

CREATE TABLE customers_moved (
    id           BLOB PRIMARY KEY NOT NULL,
    name         TEXT NOT NULL,
    status       TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    merged_into  BLOB,
    handler      TEXT NOT NULL DEFAULT '',
    email        TEXT NOT NULL DEFAULT '',
    first_name   TEXT NOT NULL DEFAULT '',
    last_name    TEXT NOT NULL DEFAULT '',
    language     TEXT NOT NULL DEFAULT '',
    gender       TEXT NOT NULL DEFAULT '',
    currency     TEXT NOT NULL DEFAULT '',
    image_url    TEXT NOT NULL DEFAULT '',
    birth_date   TEXT NOT NULL DEFAULT '',
    labels       TEXT,
    external_ids TEXT,
    custom       TEXT,
    referrer     BLOB,
    handler_key  TEXT,
    email_key    TEXT,
    first_key    TEXT,
    last_key     TEXT
) STRICT;
INSERT INTO customers_moved (id, name, status, created_at, updated_at, merged_into, handler, email, first_name, last_name, language, gender, currency, image_url, birth_date, labels, external_ids, custom, referrer, handler_key, email_key, first_key, last_key)
SELECT id, name, status, created_at, updated_at, merged_into, handler, email, first_name, last_name, language, gender, currency, image_url, birth_date, labels, external_ids, custom, referrer, handler_key, email_key, first_key, last_key FROM customers;
DROP TABLE customers;
ALTER TABLE customers_moved RENAME TO customers;
CREATE INDEX customers_created ON customers (created_at, id);
CREATE INDEX customers_handler ON customers (handler_key) WHERE handler_key IS NOT NULL;
CREATE INDEX customers_email ON customers (email_key) WHERE email_key IS NOT NULL;
CREATE INDEX customers_first ON customers (first_key) WHERE first_key IS NOT NULL;
CREATE INDEX customers_last ON customers (last_key) WHERE last_key IS NOT NULL;
CREATE INDEX customers_merged ON customers (merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX customers_status ON customers (status, created_at, id);
CREATE INDEX customers_language ON customers (language, created_at, id);
CREATE INDEX customers_currency ON customers (currency, created_at, id);
CREATE INDEX customers_by_last ON customers (status, COALESCE(last_key, char(1114111)), id);
CREATE INDEX customers_by_email ON customers (status, COALESCE(email_key, char(1114111)), id);

CREATE TABLE transactions_moved (
    customer_id     BLOB NOT NULL,
    transaction_id  TEXT NOT NULL,
    state           TEXT NOT NULL,
    checkout        BLOB NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    checkout_date   INTEGER,
    auto_accept     INTEGER,
    auto_reject     INTEGER NOT NULL,
    total           INTEGER NOT NULL,
    original_total  INTEGER NOT NULL,
    refunded        INTEGER NOT NULL,
    original_earned INTEGER NOT NULL,
    earned          INTEGER NOT NULL,
    original_burned INTEGER NOT NULL,
    burned          INTEGER NOT NULL,
    detail          TEXT,
    pieces          INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (customer_id, transaction_id)
) STRICT;
INSERT INTO transactions_moved (customer_id, transaction_id, state, checkout, created_at, updated_at, checkout_date, auto_accept, auto_reject, total, original_total, refunded, original_earned, earned, original_burned, burned, detail, pieces)
SELECT customer_id, transaction_id, state, checkout, created_at, updated_at, checkout_date, auto_accept, auto_reject, total, original_total, refunded, original_earned, earned, original_burned, burned, detail, pieces FROM transactions;
DROP TABLE transactions;
ALTER TABLE transactions_moved RENAME TO transactions;
CREATE INDEX transactions_due ON transactions (customer_id) WHERE state = 'pending' AND auto_accept IS NOT NULL;
CREATE INDEX transactions_newest ON transactions (customer_id, created_at, checkout);

CREATE TABLE purchase_lines_moved (
    customer_id    BLOB NOT NULL,
    transaction_id TEXT NOT NULL,
    piece          INTEGER NOT NULL,
    lines          TEXT NOT NULL,
    PRIMARY KEY (customer_id, transaction_id, piece)
) STRICT;
INSERT INTO purchase_lines_moved (customer_id, transaction_id, piece, lines)
SELECT customer_id, transaction_id, piece, lines FROM purchase_lines;
DROP TABLE purchase_lines;
ALTER TABLE purchase_lines_moved RENAME TO purchase_lines;

CREATE TABLE answers_moved (
    access_key  TEXT NOT NULL,
    key         TEXT NOT NULL,
    hash        BLOB NOT NULL,
    status      INTEGER NOT NULL,
    body        BLOB NOT NULL,
    customer_id BLOB,
    at          INTEGER NOT NULL,
    block       BLOB,
    language    TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (access_key, key)
) STRICT;
INSERT INTO answers_moved (access_key, key, hash, status, body, customer_id, at, block, language)
SELECT access_key, key, hash, status, body, customer_id, at, block, language FROM answers;
DROP TABLE answers;
ALTER TABLE answers_moved RENAME TO answers;
CREATE INDEX answers_at ON answers (at);

-- +goose Down
CREATE TABLE events_moved (
    customer_id    BLOB NOT NULL,
    id             BLOB NOT NULL,
    recorded_at    INTEGER NOT NULL,
    at             INTEGER NOT NULL,
    points         INTEGER,
    exp_date       INTEGER,
    parent         BLOB,
    action         TEXT NOT NULL,
    transaction_id TEXT,
    data           TEXT,
    personal       BLOB,
    effects        TEXT,
    sent_by        TEXT,
    PRIMARY KEY (customer_id, id, recorded_at)
) STRICT, WITHOUT ROWID;
INSERT INTO events_moved (customer_id, id, recorded_at, at, points, exp_date, parent, action, transaction_id, data, personal, effects, sent_by)
SELECT customer_id, id, recorded_at, at, points, exp_date, parent, action, transaction_id, data, personal, effects, sent_by FROM events;
DROP TABLE events;
ALTER TABLE events_moved RENAME TO events;
CREATE INDEX events_recorded ON events (recorded_at, id);
CREATE INDEX events_action ON events (action, recorded_at, id);
CREATE INDEX events_late ON events (at, id) WHERE at < recorded_at;
CREATE INDEX events_transaction ON events (customer_id, transaction_id, id) WHERE transaction_id IS NOT NULL;
-- +goose StatementBegin
CREATE TRIGGER events_update BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only: UPDATE of events is refused');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER events_delete BEFORE DELETE ON events
BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only: DELETE of events is refused');
END;
-- +goose StatementEnd

CREATE TABLE customers_moved (
    id           BLOB PRIMARY KEY NOT NULL,
    name         TEXT NOT NULL,
    status       TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    merged_into  BLOB,
    handler      TEXT NOT NULL DEFAULT '',
    email        TEXT NOT NULL DEFAULT '',
    first_name   TEXT NOT NULL DEFAULT '',
    last_name    TEXT NOT NULL DEFAULT '',
    language     TEXT NOT NULL DEFAULT '',
    gender       TEXT NOT NULL DEFAULT '',
    currency     TEXT NOT NULL DEFAULT '',
    image_url    TEXT NOT NULL DEFAULT '',
    birth_date   TEXT NOT NULL DEFAULT '',
    labels       TEXT,
    external_ids TEXT,
    custom       TEXT,
    referrer     BLOB,
    handler_key  TEXT,
    email_key    TEXT,
    first_key    TEXT,
    last_key     TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO customers_moved (id, name, status, created_at, updated_at, merged_into, handler, email, first_name, last_name, language, gender, currency, image_url, birth_date, labels, external_ids, custom, referrer, handler_key, email_key, first_key, last_key)
SELECT id, name, status, created_at, updated_at, merged_into, handler, email, first_name, last_name, language, gender, currency, image_url, birth_date, labels, external_ids, custom, referrer, handler_key, email_key, first_key, last_key FROM customers;
DROP TABLE customers;
ALTER TABLE customers_moved RENAME TO customers;
CREATE INDEX customers_created ON customers (created_at, id);
CREATE INDEX customers_handler ON customers (handler_key) WHERE handler_key IS NOT NULL;
CREATE INDEX customers_email ON customers (email_key) WHERE email_key IS NOT NULL;
CREATE INDEX customers_first ON customers (first_key) WHERE first_key IS NOT NULL;
CREATE INDEX customers_last ON customers (last_key) WHERE last_key IS NOT NULL;
CREATE INDEX customers_merged ON customers (merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX customers_status ON customers (status, created_at, id);
CREATE INDEX customers_language ON customers (language, created_at, id);
CREATE INDEX customers_currency ON customers (currency, created_at, id);
CREATE INDEX customers_by_last ON customers (status, COALESCE(last_key, char(1114111)), id);
CREATE INDEX customers_by_email ON customers (status, COALESCE(email_key, char(1114111)), id);

CREATE TABLE transactions_moved (
    customer_id     BLOB NOT NULL,
    transaction_id  TEXT NOT NULL,
    state           TEXT NOT NULL,
    checkout        BLOB NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    checkout_date   INTEGER,
    auto_accept     INTEGER,
    auto_reject     INTEGER NOT NULL,
    total           INTEGER NOT NULL,
    original_total  INTEGER NOT NULL,
    refunded        INTEGER NOT NULL,
    original_earned INTEGER NOT NULL,
    earned          INTEGER NOT NULL,
    original_burned INTEGER NOT NULL,
    burned          INTEGER NOT NULL,
    detail          TEXT,
    pieces          INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (customer_id, transaction_id)
) STRICT, WITHOUT ROWID;
INSERT INTO transactions_moved (customer_id, transaction_id, state, checkout, created_at, updated_at, checkout_date, auto_accept, auto_reject, total, original_total, refunded, original_earned, earned, original_burned, burned, detail, pieces)
SELECT customer_id, transaction_id, state, checkout, created_at, updated_at, checkout_date, auto_accept, auto_reject, total, original_total, refunded, original_earned, earned, original_burned, burned, detail, pieces FROM transactions;
DROP TABLE transactions;
ALTER TABLE transactions_moved RENAME TO transactions;
CREATE INDEX transactions_due ON transactions (customer_id) WHERE state = 'pending' AND auto_accept IS NOT NULL;
CREATE INDEX transactions_newest ON transactions (customer_id, created_at, checkout);

CREATE TABLE purchase_lines_moved (
    customer_id    BLOB NOT NULL,
    transaction_id TEXT NOT NULL,
    piece          INTEGER NOT NULL,
    lines          TEXT NOT NULL,
    PRIMARY KEY (customer_id, transaction_id, piece)
) STRICT, WITHOUT ROWID;
INSERT INTO purchase_lines_moved (customer_id, transaction_id, piece, lines)
SELECT customer_id, transaction_id, piece, lines FROM purchase_lines;
DROP TABLE purchase_lines;
ALTER TABLE purchase_lines_moved RENAME TO purchase_lines;

CREATE TABLE answers_moved (
    access_key  TEXT NOT NULL,
    key         TEXT NOT NULL,
    hash        BLOB NOT NULL,
    status      INTEGER NOT NULL,
    body        BLOB NOT NULL,
    customer_id BLOB,
    at          INTEGER NOT NULL,
    block       BLOB,
    language    TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (access_key, key)
) STRICT, WITHOUT ROWID;
INSERT INTO answers_moved (access_key, key, hash, status, body, customer_id, at, block, language)
SELECT access_key, key, hash, status, body, customer_id, at, block, language FROM answers;
DROP TABLE answers;
ALTER TABLE answers_moved RENAME TO answers;
CREATE INDEX answers_at ON answers (at);
