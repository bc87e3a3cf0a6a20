-- +goose Up

-- Addresses that are told of events: each follows the tail by a position of its own.
CREATE TABLE webhooks (
    id              BLOB PRIMARY KEY NOT NULL,
    label           TEXT NOT NULL,
    url             TEXT NOT NULL,
    types           TEXT NOT NULL,
    filter          TEXT,
    ordered         INTEGER NOT NULL,
    version         TEXT NOT NULL,
    include         TEXT,
    format          TEXT NOT NULL,
    headers         BLOB,           -- sealed
    concurrency     INTEGER NOT NULL,
    state           TEXT NOT NULL,
    reason          TEXT,
    cursor          INTEGER NOT NULL, -- up to this number of the tail it was looked what to send
    last_number     INTEGER NOT NULL, -- of its deliveries
    failures        INTEGER NOT NULL,
    tries           INTEGER NOT NULL,
    failing_since   INTEGER,
    told            INTEGER NOT NULL,
    pace            INTEGER NOT NULL,
    rest_until      INTEGER,
    last_success_at INTEGER,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX webhooks_state ON webhooks (state);

CREATE TABLE webhook_secrets (
    webhook_id BLOB NOT NULL,
    id         BLOB NOT NULL,
    sealed     BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (webhook_id, id)
) STRICT, WITHOUT ROWID;

-- Events on their way. What is sent is made of the journal when it is sent: nothing personal is here.
CREATE TABLE deliveries (
    webhook_id  BLOB NOT NULL,
    number      INTEGER NOT NULL, -- of the webhook: 1, 2, 3 …
    sequence    INTEGER,          -- in the tail; NULL: a notice
    customer_id BLOB,
    event_id    BLOB NOT NULL,
    type        TEXT NOT NULL,
    previous    INTEGER,          -- the sequence before it of the same customer
    replay      INTEGER NOT NULL,
    state       TEXT NOT NULL,
    front       INTEGER NOT NULL, -- it waits, and it is its turn among those of its customer
    attempts    INTEGER NOT NULL,
    next_at     INTEGER NOT NULL,
    owner       BLOB,
    lease_until INTEGER,
    created_at  INTEGER NOT NULL,
    last_at     INTEGER,
    last_status INTEGER NOT NULL,
    last_fault  TEXT,
    notice      TEXT,
    subject     BLOB,           -- what a customer who left was called, sealed
    PRIMARY KEY (webhook_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (webhook_id, replay, next_at, number) WHERE front;
CREATE INDEX deliveries_waiting ON deliveries (webhook_id, customer_id, replay, number) WHERE state = 'waiting';
CREATE INDEX deliveries_state ON deliveries (webhook_id, state, number);
CREATE INDEX deliveries_leased ON deliveries (webhook_id) WHERE owner IS NOT NULL;
CREATE INDEX deliveries_customer ON deliveries (webhook_id, customer_id, number);
CREATE INDEX deliveries_created ON deliveries (created_at);
CREATE INDEX deliveries_subject ON deliveries (created_at) WHERE subject IS NOT NULL;

CREATE TABLE attempts (
    webhook_id BLOB NOT NULL,
    number     INTEGER NOT NULL,
    n          INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    status     INTEGER NOT NULL,
    fault      TEXT,
    duration   INTEGER NOT NULL, -- microseconds
    answer     BLOB,           -- sealed, under the customer's key
    PRIMARY KEY (webhook_id, number, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempts_at ON attempts (at);

-- Stretches of the past that are sent again.
CREATE TABLE replays (
    id          BLOB PRIMARY KEY NOT NULL,
    webhook_id  BLOB NOT NULL,
    types       TEXT,
    customer_id BLOB,
    from_at     INTEGER NOT NULL,
    to_at       INTEGER NOT NULL,
    position    INTEGER NOT NULL,
    until       INTEGER NOT NULL,
    at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What the platform has to say to webhooks itself, until it was looked at.
CREATE TABLE notices (
    id    BLOB PRIMARY KEY NOT NULL,
    type  TEXT NOT NULL,
    about BLOB,
    data  TEXT NOT NULL,
    at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What customers who left were called, sealed, until webhooks were told whom to forget. Written only where there are some.
CREATE TABLE leavers (
    customer_id BLOB PRIMARY KEY NOT NULL,
    sealed      BLOB NOT NULL,
    at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX leavers_at ON leavers (at);

-- +goose Down
DROP TABLE leavers;
DROP TABLE notices;
DROP TABLE replays;
DROP TABLE attempts;
DROP TABLE deliveries;
DROP TABLE webhook_secrets;
DROP TABLE webhooks;
