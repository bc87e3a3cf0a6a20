-- +goose Up

-- Times are UTC milliseconds (NULL: none), ids UUIDv7 in 16 bytes, money 1/10,000 of a unit, documents JSON text (NULL: empty). Text compares by code point.
-- The twin of the PostgreSQL schema: the same tables, columns and keys. STRICT holds every value to its type; WITHOUT ROWID
-- keeps a row in its key's tree, one page to write where a rowid table has two.

CREATE TABLE names (
    kind  INTEGER NOT NULL,
    value TEXT NOT NULL,
    owner BLOB NOT NULL,
    PRIMARY KEY (kind, value)
) STRICT, WITHOUT ROWID;
-- Transactions (kind 2) are found through their own table; leaving them out keeps a checkout at one entry.
CREATE INDEX names_owner ON names (owner) WHERE kind <> 2;

CREATE TABLE customers (
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
    -- what search and matching compare: trimmed and lower-case, NULL where there is nothing
    handler_key  TEXT,
    email_key    TEXT,
    first_key    TEXT,
    last_key     TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX customers_created ON customers (created_at, id);
CREATE INDEX customers_handler ON customers (handler_key) WHERE handler_key IS NOT NULL;
CREATE INDEX customers_email ON customers (email_key) WHERE email_key IS NOT NULL;
CREATE INDEX customers_first ON customers (first_key) WHERE first_key IS NOT NULL;
CREATE INDEX customers_last ON customers (last_key) WHERE last_key IS NOT NULL;

-- The one row that every event changes: narrow, and no index on what changes each time.
CREATE TABLE balances (
    customer_id      BLOB PRIMARY KEY NOT NULL,
    version          INTEGER NOT NULL,
    score            INTEGER NOT NULL,
    spent            INTEGER NOT NULL,
    reserved         INTEGER NOT NULL,
    expired          INTEGER NOT NULL,
    pending          INTEGER NOT NULL,
    debt             INTEGER NOT NULL,
    last_event       BLOB,
    due_at           INTEGER,
    last_activity_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX balances_due ON balances (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE customer_keys (
    customer_id BLOB PRIMARY KEY NOT NULL,
    sealed      BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The journal. The triggers need PRAGMA recursive_triggers, so that REPLACE is refused too.
CREATE TABLE events (
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
    PRIMARY KEY (customer_id, id, recorded_at)
) STRICT, WITHOUT ROWID;

CREATE TABLE postings (
    customer_id  BLOB NOT NULL,
    event_id     BLOB NOT NULL,
    lot_id       BLOB,
    points       INTEGER NOT NULL CHECK (points > 0),
    seq          INTEGER NOT NULL,
    from_account INTEGER NOT NULL,
    to_account   INTEGER NOT NULL,
    PRIMARY KEY (customer_id, event_id, seq)
) STRICT, WITHOUT ROWID;

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
-- +goose StatementBegin
CREATE TRIGGER postings_update BEFORE UPDATE ON postings
BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only: UPDATE of postings is refused');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER postings_delete BEFORE DELETE ON postings
BEGIN
    SELECT RAISE(ABORT, 'the journal is append-only: DELETE of postings is refused');
END;
-- +goose StatementEnd

CREATE TABLE lots (
    customer_id    BLOB NOT NULL,
    id             BLOB NOT NULL,
    points         INTEGER NOT NULL,
    remaining      INTEGER NOT NULL,
    reserved       INTEGER NOT NULL,
    spent          INTEGER NOT NULL,
    expired        INTEGER NOT NULL,
    earned_at      INTEGER NOT NULL,
    expires_at     INTEGER,
    idle_months    INTEGER NOT NULL,
    idle_days      INTEGER NOT NULL,
    open           INTEGER NOT NULL, -- remaining + reserved > 0
    transaction_id TEXT,
    PRIMARY KEY (customer_id, id),
    CHECK (remaining >= 0 AND reserved >= 0 AND spent >= 0 AND expired >= 0)
) STRICT, WITHOUT ROWID;
CREATE INDEX lots_open ON lots (customer_id) WHERE open;
CREATE INDEX lots_held ON lots (customer_id) WHERE reserved > 0;

CREATE TABLE transactions (
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
    PRIMARY KEY (customer_id, transaction_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX transactions_due ON transactions (customer_id) WHERE state = 'pending' AND auto_accept IS NOT NULL;

CREATE TABLE reservations (
    customer_id    BLOB NOT NULL,
    transaction_id TEXT NOT NULL,
    hold           TEXT,
    PRIMARY KEY (customer_id, transaction_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE answers (
    access_key  TEXT NOT NULL,
    key         TEXT NOT NULL,
    hash        BLOB NOT NULL,
    status      INTEGER NOT NULL,
    body        BLOB NOT NULL,
    customer_id BLOB,
    at          INTEGER NOT NULL,
    PRIMARY KEY (access_key, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX answers_at ON answers (at);

-- +goose Down
DROP TABLE answers;
DROP TABLE reservations;
DROP TABLE transactions;
DROP TABLE lots;
DROP TABLE postings;
DROP TABLE events;
DROP TABLE customer_keys;
DROP TABLE balances;
DROP TABLE customers;
DROP TABLE names;
