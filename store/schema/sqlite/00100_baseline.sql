-- The schema, as postgres/ has it: the same tables and columns, in the same order.
--
-- Instants are UTC milliseconds, NULL where there is none. Ids are UUIDv7 in 16 bytes. Money is in 1/10,000 of a unit.
-- Documents are JSON as text, NULL where they are empty. Text compares by code point. Truth values are 0 and 1. A
-- column that ends in _key is what search compares: trimmed, lowered and brought to one form (loyalty.NameKey).
--
-- STRICT holds every value to its type. WITHOUT ROWID keeps a row in the tree of its key: one page to write where a
-- table with rowids has two. Wide rows have rowids: a search in the tree of their keys would read whole rows.
--
-- Numbers below 100 belonged to migrations that were never released: a database that has one is refused.

-- +goose Up
-- cost: at once

-- ---------------------------------------------------------------------------------------------------------------------
-- The programme: its configuration, and what every node has to agree on
-- ---------------------------------------------------------------------------------------------------------------------

-- One row. Every administrative change locks it and increments it, so that nodes see that their snapshot is old.
CREATE TABLE programme_version (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL
) STRICT;
INSERT INTO programme_version (id, version) VALUES (1, 0);

-- One row with a value that only the programme's master key opens: a node with another key stops before it seals.
CREATE TABLE master_check (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    sealed BLOB NOT NULL
) STRICT;

-- The key under which names of stored answers are hashed, sealed under the master key. Without a row it is derived from
-- the master key; a change of the master key keeps it here, because those hashes cannot be made again.
CREATE TABLE names_key (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    sealed BLOB NOT NULL
) STRICT;

-- One row: the settings of the whole programme.
CREATE TABLE settings (
    id                INTEGER PRIMARY KEY CHECK (id = 1),
    currency          TEXT NOT NULL,
    time_zone         TEXT NOT NULL,
    acceptance_window INTEGER NOT NULL -- milliseconds
) STRICT;

-- A module, whether it is on, and its configuration.
CREATE TABLE modules (
    name    TEXT PRIMARY KEY NOT NULL,
    enabled INTEGER NOT NULL,
    config  TEXT
) STRICT;

-- A thing that a programme is made of: a reward, a campaign, a tier. Archived rows stay, because history names them.
CREATE TABLE entities (
    type        TEXT NOT NULL,
    id          TEXT NOT NULL,
    data        TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    archived_at INTEGER,
    PRIMARY KEY (type, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX entities_created ON entities (type, created_at, id); -- lists

-- ---------------------------------------------------------------------------------------------------------------------
-- Access: keys of systems, users of the console, the trail of what they changed
-- ---------------------------------------------------------------------------------------------------------------------

-- A key that signs requests, and what it may do.
CREATE TABLE access_keys (
    id           TEXT PRIMARY KEY NOT NULL,
    label        TEXT NOT NULL,
    apis         TEXT,
    read_only    INTEGER NOT NULL,
    addresses    TEXT,
    rate_limit   INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    last_used_at INTEGER
) STRICT;

-- A secret of a key, sealed under the master key. A key has several while one replaces another.
CREATE TABLE key_secrets (
    key_id     TEXT NOT NULL REFERENCES access_keys (id),
    id         BLOB NOT NULL,
    sealed     BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (key_id, id)
) STRICT;

-- A change by an access key, a user or the program's own commands. Append-only.
CREATE TABLE audit (
    id         BLOB PRIMARY KEY NOT NULL,
    at         INTEGER NOT NULL,
    actor      TEXT NOT NULL,
    action     TEXT NOT NULL,
    target     TEXT NOT NULL,
    before     TEXT,
    after      TEXT,
    actor_kind TEXT NOT NULL DEFAULT 'key'
) STRICT;
CREATE INDEX audit_at ON audit (at, id); -- the trail, and its filters
CREATE INDEX audit_action ON audit (action, at, id);
CREATE INDEX audit_target ON audit (target, at, id);
CREATE INDEX audit_key ON audit (actor, at, id);
-- +goose StatementBegin
CREATE TRIGGER audit_update BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only: UPDATE of audit is refused');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_delete BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only: DELETE of audit is refused');
END;
-- +goose StatementEnd

-- A user of the console. The password is an Argon2id string, the second factor is sealed under the master key.
CREATE TABLE users (
    id           BLOB PRIMARY KEY NOT NULL,
    login        TEXT NOT NULL UNIQUE,
    name         TEXT NOT NULL,
    email        TEXT NOT NULL,
    role         TEXT NOT NULL,
    personal     INTEGER NOT NULL, -- may see personal data
    language     TEXT NOT NULL,
    password     TEXT,
    totp_sealed  BLOB,
    totp_step    INTEGER NOT NULL, -- the last one whose code was taken
    recovery     TEXT,             -- hashes of the codes that are left
    issuer       TEXT,             -- of a provider that signs the user in
    subject      TEXT,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    disabled_at  INTEGER,
    failures     INTEGER NOT NULL,
    locked_until INTEGER,
    passkeys     TEXT, -- public keys, and what their devices said of them
    tries        TEXT, -- failed sign-ins by network
    browsers     TEXT, -- hashes of cookies of browsers that have signed in
    UNIQUE (issuer, subject)
) STRICT;

-- A browser that is signed in, by the hash of its token.
CREATE TABLE sessions (
    token_hash   BLOB PRIMARY KEY NOT NULL,
    user_id      BLOB NOT NULL REFERENCES users (id),
    created_at   INTEGER NOT NULL,
    seen_at      INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    confirmed_at INTEGER,
    address      TEXT NOT NULL,
    agent        TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_user ON sessions (user_id); -- sign out everywhere
CREATE INDEX sessions_over ON sessions (expires_at); -- clean-up

-- A link that lets a user choose a password, by the hash of its token.
CREATE TABLE invitations (
    token_hash BLOB PRIMARY KEY NOT NULL,
    user_id    BLOB NOT NULL REFERENCES users (id),
    expires_at INTEGER NOT NULL,
    used_at    INTEGER
) STRICT;
CREATE INDEX invitations_user ON invitations (user_id);
CREATE INDEX invitations_over ON invitations (expires_at); -- clean-up

-- What a passkey was asked to sign, hashed: good once, for minutes.
CREATE TABLE challenges (
    token_hash BLOB PRIMARY KEY NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX challenges_over ON challenges (expires_at); -- clean-up

-- ---------------------------------------------------------------------------------------------------------------------
-- Customers
-- ---------------------------------------------------------------------------------------------------------------------

-- A name that callers choose, by kind and value, claimed once over the whole programme: ids, transactions, codes.
CREATE TABLE names (
    kind  INTEGER NOT NULL,
    value TEXT NOT NULL,
    owner BLOB NOT NULL,
    PRIMARY KEY (kind, value)
) STRICT, WITHOUT ROWID;
-- The names of an owner. Transactions (kind 2) are found through their own table: leaving them out saves each checkout
-- an entry.
CREATE INDEX names_owner ON names (owner) WHERE kind <> 2;

-- A customer's account and profile.
CREATE TABLE customers (
    id           BLOB PRIMARY KEY NOT NULL,
    name         TEXT NOT NULL,
    status       TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    merged_into  BLOB, -- the customer who has the rows now, who is never merged
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
-- Lists, newest first.
CREATE INDEX customers_created ON customers (created_at, id);
-- The search for a prefix.
CREATE INDEX customers_handler ON customers (handler_key) WHERE handler_key IS NOT NULL;
CREATE INDEX customers_email ON customers (email_key) WHERE email_key IS NOT NULL;
CREATE INDEX customers_first ON customers (first_key) WHERE first_key IS NOT NULL;
CREATE INDEX customers_last ON customers (last_key) WHERE last_key IS NOT NULL;
-- The customers who were merged into one.
CREATE INDEX customers_merged ON customers (merged_into) WHERE merged_into IS NOT NULL;
-- Filtered lists, and lists by name: status by status, with those who have no name last. No event changes the names.
CREATE INDEX customers_status ON customers (status, created_at, id);
CREATE INDEX customers_language ON customers (language, created_at, id);
CREATE INDEX customers_currency ON customers (currency, created_at, id);
CREATE INDEX customers_by_last ON customers (status, COALESCE(last_key, char(1114111)), id);
CREATE INDEX customers_by_email ON customers (status, COALESCE(email_key, char(1114111)), id);

-- A customer's figures in points, the version that guards them, and the head of the chain of hashes. The one row that
-- every event changes: narrow, and with no index on what changes each time.
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
    due_at           INTEGER, -- when something of the customer has to be done next
    last_activity_at INTEGER,
    chain            BLOB,
    chain_from       BLOB -- the first event of the chain
) STRICT, WITHOUT ROWID;
CREATE INDEX balances_due ON balances (due_at) WHERE due_at IS NOT NULL; -- customers who are due

-- The key of a customer's personal data, sealed under the master key. opt_out deletes it.
CREATE TABLE customer_keys (
    customer_id BLOB PRIMARY KEY NOT NULL,
    sealed      BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- What a customer who left was called, sealed, until webhooks were told. Written only while there are webhooks.
CREATE TABLE leavers (
    customer_id BLOB PRIMARY KEY NOT NULL,
    sealed      BLOB NOT NULL,
    at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX leavers_at ON leavers (at); -- clean-up

-- A customer on a list of customers.
CREATE TABLE list_members (
    customer_id BLOB NOT NULL,
    list_id     TEXT NOT NULL,
    PRIMARY KEY (customer_id, list_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX list_members_list ON list_members (list_id, customer_id); -- the members of a list

-- ---------------------------------------------------------------------------------------------------------------------
-- The journal
-- ---------------------------------------------------------------------------------------------------------------------

-- What happened, as it was sent and with its effects. Append-only: the triggers need PRAGMA recursive_triggers,
-- so that REPLACE is refused too.
CREATE TABLE events (
    customer_id    BLOB NOT NULL,
    id             BLOB NOT NULL,
    recorded_at    INTEGER NOT NULL,
    at             INTEGER NOT NULL, -- when it takes effect
    points         INTEGER,
    exp_date       INTEGER,
    parent         BLOB,
    action         TEXT NOT NULL,
    transaction_id TEXT,
    data           TEXT,
    personal       BLOB, -- the personal part of data, under the customer's key
    effects        TEXT,
    sent_by        TEXT, -- the id of an access key, or what stands in its place
    PRIMARY KEY (customer_id, id, recorded_at)
) STRICT;
-- Lists over all customers and of one action; both grow at their right edge only. Most events take effect when they are
-- recorded: events_late has the others.
CREATE INDEX events_recorded ON events (recorded_at, id);
CREATE INDEX events_action ON events (action, recorded_at, id);
CREATE INDEX events_late ON events (at, id) WHERE at < recorded_at;
-- The events of a purchase.
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

-- ---------------------------------------------------------------------------------------------------------------------
-- The ledger: postings, and the states that the journal folds to
-- ---------------------------------------------------------------------------------------------------------------------

-- Points that an event moved from one account to another. Append-only.
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

-- Points that were credited together, and what became of them.
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
    idle_months    INTEGER NOT NULL, -- expires after so long without activity
    idle_days      INTEGER NOT NULL,
    open           INTEGER NOT NULL, -- remaining + reserved > 0
    transaction_id TEXT,
    origin         INTEGER NOT NULL DEFAULT 0, -- what it was given for (points.Origin)
    PRIMARY KEY (customer_id, id),
    CHECK (remaining >= 0 AND reserved >= 0 AND spent >= 0 AND expired >= 0)
) STRICT, WITHOUT ROWID;
CREATE INDEX lots_open ON lots (customer_id) WHERE open; -- a batch loads a customer
CREATE INDEX lots_held ON lots (customer_id) WHERE reserved > 0; -- a batch ends a reservation

-- A purchase in its present state.
CREATE TABLE transactions (
    customer_id     BLOB NOT NULL,
    transaction_id  TEXT NOT NULL,
    state           TEXT NOT NULL,
    checkout        BLOB NOT NULL, -- its event
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    checkout_date   INTEGER,
    auto_accept     INTEGER,
    auto_reject     INTEGER NOT NULL,
    total           INTEGER NOT NULL,
    original_total  INTEGER NOT NULL,
    refunded        INTEGER NOT NULL,
    original_earned INTEGER NOT NULL, -- points, as are the next three
    earned          INTEGER NOT NULL,
    original_burned INTEGER NOT NULL,
    burned          INTEGER NOT NULL,
    detail          TEXT,
    pieces          INTEGER NOT NULL DEFAULT 0, -- rows of purchase_lines; 0: the lines are in detail
    PRIMARY KEY (customer_id, transaction_id)
) STRICT;
CREATE INDEX transactions_due ON transactions (customer_id) WHERE state = 'pending' AND auto_accept IS NOT NULL;
CREATE INDEX transactions_newest ON transactions (customer_id, created_at, checkout); -- a customer's list

-- 64 lines of a purchase that has more, as a JSON array, so that a change of one line does not write them all.
CREATE TABLE purchase_lines (
    customer_id    BLOB NOT NULL,
    transaction_id TEXT NOT NULL,
    piece          INTEGER NOT NULL,
    lines          TEXT NOT NULL,
    PRIMARY KEY (customer_id, transaction_id, piece)
) STRICT;

-- Points that wait for a purchase, lot by lot.
CREATE TABLE reservations (
    customer_id    BLOB NOT NULL,
    transaction_id TEXT NOT NULL,
    hold           TEXT,
    PRIMARY KEY (customer_id, transaction_id)
) STRICT, WITHOUT ROWID;

-- The head of a customer's chain of hashes, as the last anchor found it (store/chain_anchor.go). A head that an anchor
-- notes stands beside the one before until that anchor is complete.
CREATE TABLE anchored (
    customer_id BLOB PRIMARY KEY,
    event_id    BLOB NOT NULL,
    head        BLOB NOT NULL,
    number      INTEGER NOT NULL DEFAULT 0, -- the anchor that found it
    kept_event  BLOB,                       -- what the one before found
    kept_head   BLOB
) STRICT, WITHOUT ROWID;

-- An anchor: a digest of all heads.
CREATE TABLE anchors (
    number    INTEGER PRIMARY KEY,
    at        INTEGER NOT NULL,
    customers INTEGER NOT NULL,
    digest    BLOB NOT NULL
) STRICT;

-- The run that may write the heads of an anchor: the one that began last.
CREATE TABLE anchoring (
    number  INTEGER PRIMARY KEY,
    attempt BLOB NOT NULL
) STRICT;

-- A verification of the ledger: how many invariants held, were broken, could not be checked, and which.
CREATE TABLE ledger_proofs (
    id            BLOB PRIMARY KEY NOT NULL,
    at            INTEGER NOT NULL,
    held          INTEGER NOT NULL,
    broken        INTEGER NOT NULL,
    unchecked     INTEGER NOT NULL,
    actor         TEXT,
    actor_kind    TEXT,
    broken_ids    TEXT,
    unchecked_ids TEXT
) STRICT;
CREATE INDEX ledger_proofs_at ON ledger_proofs (at, id); -- the list, newest first

-- ---------------------------------------------------------------------------------------------------------------------
-- What rules remember of customers
-- ---------------------------------------------------------------------------------------------------------------------

-- A customer's position in one thing of the programme: a tier (kind 1), a challenge, a reward.
CREATE TABLE progress (
    customer_id BLOB NOT NULL,
    kind        INTEGER NOT NULL,
    key         TEXT NOT NULL,
    data        TEXT NOT NULL,
    due_at      INTEGER,
 -- Made by the database, so that no program can leave it behind; an update that keeps the tier spares the index.
    tier        TEXT GENERATED ALWAYS AS (CASE WHEN kind = 1 THEN json_extract(data, '$.tier') END) VIRTUAL,
    PRIMARY KEY (customer_id, kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX progress_due ON progress (customer_id) WHERE due_at IS NOT NULL;
CREATE INDEX progress_tier ON progress (tier, customer_id) WHERE tier IS NOT NULL; -- the customers of a tier

-- A claim of a reward.
CREATE TABLE claims (
    customer_id BLOB NOT NULL,
    id          BLOB NOT NULL,
    reward      TEXT NOT NULL,
    state       TEXT NOT NULL,
    points      INTEGER NOT NULL, -- what it cost
    award       INTEGER NOT NULL, -- points that it gave
    coupon      TEXT,
    claimed_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    burn        TEXT,
    PRIMARY KEY (customer_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX claims_id ON claims (id); -- found without the customer
CREATE INDEX claims_newest ON claims (customer_id, claimed_at, id); -- a customer's list

-- A count that all customers share, such as how often a reward was claimed.
CREATE TABLE tallies (
    key   TEXT PRIMARY KEY NOT NULL,
    count INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a campaign did in all. Writers only add to it, as a rule each to another slot, so that none waits for another;
-- the figures of a campaign are the sum of its slots.
CREATE TABLE campaign_figures (
    campaign   TEXT NOT NULL,
    slot       INTEGER NOT NULL,
    runs       INTEGER NOT NULL, -- times it gave something
    customers  INTEGER NOT NULL,
    points     INTEGER NOT NULL,
    taken_back INTEGER NOT NULL, -- of the points, by refunds
    coupons    INTEGER NOT NULL,
    labels     INTEGER NOT NULL,
    tiers      INTEGER NOT NULL,
    challenge  INTEGER NOT NULL, -- by how much it moved challenges
    first_at   INTEGER,
    last_at    INTEGER,
    PRIMARY KEY (campaign, slot)
) STRICT, WITHOUT ROWID;

-- A customer to whom a campaign gave something, also through a customer who was merged into that one.
CREATE TABLE campaign_customers (
    customer_id BLOB NOT NULL,
    campaign    TEXT NOT NULL,
    PRIMARY KEY (customer_id, campaign)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------------------------------------------------------------
-- Coupons
-- ---------------------------------------------------------------------------------------------------------------------

-- A coupon. Its code is claimed in names, with the coupon as the owner.
CREATE TABLE coupons (
    id          BLOB PRIMARY KEY NOT NULL,
    code        TEXT NOT NULL,
    state       TEXT NOT NULL,
    customer_id BLOB,
    type        TEXT NOT NULL,
    value       INTEGER NOT NULL,
    balance     INTEGER NOT NULL,
    currency    TEXT NOT NULL,
    name        TEXT,
    pool        TEXT,
    reward      TEXT,
    cost        INTEGER NOT NULL,
    stores      TEXT,
    products    TEXT,
    created_at  INTEGER NOT NULL,
    claimed_at  INTEGER,
    redeemed_at INTEGER,
    expires_at  INTEGER,
    version     INTEGER NOT NULL,
    uses        TEXT,
    given       BLOB,                      -- the event that gave it: a code can be given again
    voided      INTEGER NOT NULL DEFAULT 0 -- taken back for good, with the purchase that brought it
) STRICT, WITHOUT ROWID;
CREATE INDEX coupons_created ON coupons (created_at, id); -- the list, newest first
CREATE INDEX coupons_free ON coupons (pool, id) WHERE state = 'created'; -- the next code of a pool
CREATE INDEX coupons_pool ON coupons (pool, created_at, id) WHERE pool IS NOT NULL; -- the list of a pool
CREATE INDEX coupons_state ON coupons (state, created_at, id); -- the list of a state
CREATE INDEX coupons_expiring ON coupons (expires_at) WHERE expires_at IS NOT NULL; -- what has expired
CREATE INDEX coupons_held ON coupons (customer_id, claimed_at, id) WHERE customer_id IS NOT NULL; -- a customer's list
CREATE INDEX coupons_type ON coupons (type, created_at, id); -- the list of a type
-- A pool's codes by state and how many were given of late, counted without reading the rows.
CREATE INDEX coupons_counted ON coupons (pool, state, created_at, id, expires_at, claimed_at) WHERE pool IS NOT NULL;

-- An event that changed a coupon: the journal is kept by customer, and a coupon passes through several hands.
CREATE TABLE coupon_events (
    coupon_id   BLOB NOT NULL,
    version     INTEGER NOT NULL, -- of the coupon, after the event
    customer_id BLOB NOT NULL,
    event_id    BLOB NOT NULL,
    recorded_at INTEGER NOT NULL, -- PostgreSQL has the journal in months
    PRIMARY KEY (coupon_id, version)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------------------------------------------------------------
-- Bulk: work on many things at once
-- ---------------------------------------------------------------------------------------------------------------------

-- An operation that goes on after its request was answered. What one kind keeps from piece to piece is in progress.
CREATE TABLE bulk_operations (
    id          BLOB PRIMARY KEY NOT NULL,
    kind        TEXT NOT NULL,
    target      TEXT NOT NULL,
    state       TEXT NOT NULL,
    done        INTEGER NOT NULL, -- with those that were refused
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
CREATE INDEX bulk_operations_finished ON bulk_operations (finished_at) WHERE finished_at IS NOT NULL; -- clean-up

-- A customer of an operation, or a code that it refused. The customer's name is deleted when the item is done, unless
-- it was refused, and in any case when the customer leaves.
CREATE TABLE bulk_items (
    batch_id    BLOB NOT NULL,
    seq         INTEGER NOT NULL,
    customer    TEXT,
    customer_id BLOB,
    error       TEXT,
    done_at     INTEGER,
    code        TEXT,
    count       INTEGER NOT NULL DEFAULT 1, -- so many codes, from the one at seq on
    data        TEXT,                       -- what it is about besides the customer; deleted when it is done
    PRIMARY KEY (batch_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX bulk_items_refused ON bulk_items (batch_id, seq) WHERE error IS NOT NULL; -- the list of errors
CREATE INDEX bulk_items_customer ON bulk_items (customer) WHERE customer IS NOT NULL; -- a customer leaves

-- Uploaded codes that wait to be added to a pool, a JSON list a row. They are kept before their operation exists, and
-- deleted as they are added.
CREATE TABLE kept_codes (
    batch_id BLOB NOT NULL,
    place    INTEGER NOT NULL, -- of the first one in the upload
    codes    TEXT NOT NULL,
    kept_at  INTEGER NOT NULL,
    PRIMARY KEY (batch_id, place)
) STRICT;

-- An import from another system, kept for good so that no file is taken over twice. Its id is that of its operation.
CREATE TABLE imports (
    id         BLOB PRIMARY KEY NOT NULL,
    digest     TEXT NOT NULL,    -- of the files and how they were read
    total      INTEGER NOT NULL, -- rows of all files
    staged     INTEGER NOT NULL, -- so many of them are items
    created_at INTEGER NOT NULL,
    begun_at   INTEGER, -- when its operation began; NULL: not yet
    key_id     TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX imports_digest ON imports (digest);

-- An import that arrives over HTTP: how its files are read, and its state. Its rows are an import of imports.
CREATE TABLE uploads (
    id         BLOB PRIMARY KEY NOT NULL,
    label      TEXT NOT NULL,
    options    TEXT NOT NULL, -- how the files are read
    state      TEXT NOT NULL,
    plan       TEXT,    -- of the last check
    account    TEXT,    -- of the last comparison with the ledger
    fault      TEXT,    -- why the last of them failed
    findings   INTEGER, -- of the last of them
    import_id  BLOB,    -- NULL: it has not begun
    key_id     TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX uploads_state ON uploads (state);

-- A part of an uploaded file or of what was found in it, sealed; deleted seven days after the last change.
CREATE TABLE upload_parts (
    upload_id BLOB NOT NULL REFERENCES uploads (id),
    file      TEXT NOT NULL, -- its kind, or findings
    part      INTEGER NOT NULL,
    bytes     INTEGER NOT NULL, -- of what is sealed
    sealed    BLOB NOT NULL,
    PRIMARY KEY (upload_id, file, part)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------------------------------------------------------------
-- Requests
-- ---------------------------------------------------------------------------------------------------------------------

-- The answer of an idempotent request, kept for a day, under a hash of its key. body and block, the customer as the
-- answer shows them, are sealed apart: under the customer's key where there is one, else under the master key.
CREATE TABLE answers (
    access_key  TEXT NOT NULL,
    key         TEXT NOT NULL,
    hash        BLOB NOT NULL, -- of the request
    status      INTEGER NOT NULL,
    body        BLOB NOT NULL,
    customer_id BLOB,
    at          INTEGER NOT NULL,
    block       BLOB,
    language    TEXT NOT NULL DEFAULT '', -- of its texts
    PRIMARY KEY (access_key, key)
) STRICT;
CREATE INDEX answers_at ON answers (at); -- clean-up

-- The signature of a write, for as long as it could be sent again (replay guard).
CREATE TABLE taken_signatures (
    signature  BLOB PRIMARY KEY,
    good_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX taken_signatures_until ON taken_signatures (good_until); -- clean-up

-- A request of any node that was answered as an error. Of what callers send it has the method only.
CREATE TABLE failed_requests (
    id         BLOB PRIMARY KEY NOT NULL,
    at         INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    method     TEXT NOT NULL,
    route      TEXT NOT NULL DEFAULT '',
    api        TEXT NOT NULL DEFAULT '',
    status     INTEGER NOT NULL,
    code       INTEGER NOT NULL,
    key_id     TEXT NOT NULL DEFAULT '',
    fields     TEXT,
    duration   INTEGER NOT NULL -- microseconds
) STRICT, WITHOUT ROWID;
CREATE INDEX failed_requests_at ON failed_requests (at, id); -- the list, and clean-up

-- ---------------------------------------------------------------------------------------------------------------------
-- Followers of committed events
-- ---------------------------------------------------------------------------------------------------------------------

-- The tail: a committed event under a number that was given after its commit, without a gap, so that a follower misses
-- none (store/tail.go).
CREATE TABLE tail (
    number      INTEGER PRIMARY KEY,
    customer_id BLOB NOT NULL,
    event_id    BLOB NOT NULL,
    recorded_at INTEGER NOT NULL -- PostgreSQL has the journal in months
) STRICT;

-- Up to which event a customer is in the tail.
CREATE TABLE numbered (
    customer_id BLOB PRIMARY KEY NOT NULL,
    through     BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- One row, which the node that gives numbers has locked.
CREATE TABLE tail_state (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    head        INTEGER NOT NULL, -- the last number; 0: none
    present     INTEGER NOT NULL, -- whether every event of an earlier journal has its number
    looked_at   INTEGER,          -- what was recorded before then was looked for, but for what commits late
    compared_at INTEGER           -- when every customer was last compared with the journal
) STRICT;
INSERT INTO tail_state (id, head, present) VALUES (1, 0, 1);

-- A follower of the tail, and the number up to which it did its work.
CREATE TABLE followers (
    name     TEXT PRIMARY KEY NOT NULL,
    position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row, once there is a leaderboard. Boards exist in two sets, so that the whole one is shown while the other is
-- counted anew.
CREATE TABLE leaderboard (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    zone       TEXT NOT NULL,
    version    INTEGER NOT NULL,           -- of the programme whose zone it is
    generation INTEGER NOT NULL,           -- grows when the boards of days are counted anew
    built      INTEGER NOT NULL,           -- the last generation that is complete; 0: none is
    dated      INTEGER NOT NULL,           -- boards of days count up to it; -1: rows of the last generation remain
    side       INTEGER NOT NULL DEFAULT 0, -- the whole set
    whole_zone TEXT NOT NULL DEFAULT '',   -- its zone
    whole      INTEGER NOT NULL DEFAULT 0  -- up to which number it counts while the other is counted
) STRICT;

-- What a customer scored in one period. A board of side 1 has its kind plus 8.
CREATE TABLE rankings (
    customer_id BLOB NOT NULL,
    kind        INTEGER NOT NULL,
    start       INTEGER NOT NULL, -- the first day of the period, in days since 1970-01-01, in the zone
    score       INTEGER NOT NULL,
    shown       INTEGER NOT NULL,
    PRIMARY KEY (customer_id, kind, start)
) STRICT, WITHOUT ROWID;
CREATE INDEX rankings_order ON rankings (kind, start, shown, score, customer_id); -- a board

-- How many customers are shown with scores of one stretch, always in step with rankings: a rank far down is added up
-- from it instead of counted row by row.
CREATE TABLE ranking_counts (
    kind      INTEGER NOT NULL,
    start     INTEGER NOT NULL,
    stretch   INTEGER NOT NULL,
    customers INTEGER NOT NULL,
    PRIMARY KEY (kind, start, stretch)
) STRICT, WITHOUT ROWID;

-- One row, from the first fold of statistics on. The number up to which the tail was folded is in followers. Without a
-- zone the past is folded anew.
CREATE TABLE statistics (
    id              INTEGER PRIMARY KEY CHECK (id = 1),
    zone            TEXT NOT NULL,
    version         INTEGER NOT NULL, -- of the programme whose zone it is
    generation      INTEGER NOT NULL, -- grows when everything is folded anew
    photographed_at INTEGER
) STRICT;

-- A metric on one day of the programme's zone. A key is what it is broken down by, the currency and the name of the
-- part, with U+001F between them. Values are whole numbers as text, because sums do not fit 64 bits.
CREATE TABLE figures (
    metric TEXT NOT NULL,
    key    TEXT NOT NULL,
    day    INTEGER NOT NULL, -- since 1970-01-01
    value  TEXT NOT NULL,
    PRIMARY KEY (metric, key, day)
) STRICT, WITHOUT ROWID;

-- How much of a purchase was counted as given back: an event has the sum of all its refunds.
CREATE TABLE figure_refunds (
    transaction_id TEXT PRIMARY KEY NOT NULL,
    refunded       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------------------------------------------------------------
-- Webhooks
-- ---------------------------------------------------------------------------------------------------------------------

-- An address that is told of events. It follows the tail by a position of its own.
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
    headers         BLOB, -- sealed
    concurrency     INTEGER NOT NULL,
    state           TEXT NOT NULL,
    reason          TEXT,
    cursor          INTEGER NOT NULL, -- up to this number of the tail its deliveries are decided
    last_number     INTEGER NOT NULL, -- of its deliveries
    failures        INTEGER NOT NULL,
    tries           INTEGER NOT NULL,
    failing_since   INTEGER,
    told            INTEGER NOT NULL,
    pace            INTEGER NOT NULL,
    rest_until      INTEGER,
    last_success_at INTEGER,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    revision        INTEGER NOT NULL DEFAULT 0 -- how often its types and filter were changed
) STRICT, WITHOUT ROWID;
CREATE INDEX webhooks_state ON webhooks (state);

-- A secret with which a webhook signs, sealed under the master key.
CREATE TABLE webhook_secrets (
    webhook_id BLOB NOT NULL,
    id         BLOB NOT NULL,
    sealed     BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (webhook_id, id)
) STRICT, WITHOUT ROWID;

-- An event on its way. What is sent is made of the journal at that moment: nothing personal is here in clear.
CREATE TABLE deliveries (
    webhook_id  BLOB NOT NULL,
    number      INTEGER NOT NULL, -- of the webhook: 1, 2, 3 …
    sequence    INTEGER,          -- in the tail; NULL: a notice
    customer_id BLOB,
    event_id    BLOB NOT NULL,
    type        TEXT NOT NULL,
    previous    INTEGER, -- the sequence before it of the same customer
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
    subject     BLOB,                       -- what a customer who left was called, sealed
    revision    INTEGER NOT NULL DEFAULT 0, -- of the webhook that decided it: a later one judges it again
    reason      TEXT,                       -- why it was skipped
    PRIMARY KEY (webhook_id, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (webhook_id, replay, next_at, number) WHERE front; -- what to send next
-- The next one of a customer.
CREATE INDEX deliveries_waiting ON deliveries (webhook_id, customer_id, replay, number) WHERE state = 'waiting';
CREATE INDEX deliveries_state ON deliveries (webhook_id, state, number); -- lists, and the backlog
CREATE INDEX deliveries_leased ON deliveries (webhook_id) WHERE owner IS NOT NULL; -- how many are being sent
CREATE INDEX deliveries_customer ON deliveries (webhook_id, customer_id, number); -- the one before
CREATE INDEX deliveries_created ON deliveries (created_at); -- clean-up
CREATE INDEX deliveries_subject ON deliveries (created_at) WHERE subject IS NOT NULL; -- clean-up of subjects

-- An attempt to deliver, with what the receiver answered.
CREATE TABLE attempts (
    webhook_id BLOB NOT NULL,
    number     INTEGER NOT NULL,
    n          INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    status     INTEGER NOT NULL,
    fault      TEXT,
    duration   INTEGER NOT NULL, -- microseconds
    answer     BLOB,             -- sealed, under the customer's key where there is one
    PRIMARY KEY (webhook_id, number, n)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempts_at ON attempts (at); -- clean-up

-- A stretch of the past that is sent again.
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

-- Something that the platform itself tells webhooks, until their deliveries are decided.
CREATE TABLE notices (
    id    BLOB PRIMARY KEY NOT NULL,
    type  TEXT NOT NULL,
    about BLOB,
    data  TEXT NOT NULL,
    at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------------------------------------------------------------
-- The installation
-- ---------------------------------------------------------------------------------------------------------------------

-- A job, held by the node that does it until lease_until.
CREATE TABLE jobs (
    name        TEXT PRIMARY KEY NOT NULL,
    next_at     INTEGER NOT NULL, -- it is due from then on
    owner       TEXT,
    lease_until INTEGER,
    started_at  INTEGER,
    finished_at INTEGER,
    done        INTEGER NOT NULL, -- items of the last run, or of the present one
    failed      INTEGER NOT NULL,
    result      TEXT,             -- why the last run failed; NULL: it did not
    runs        INTEGER NOT NULL, -- that came to their end
    state       TEXT              -- what a run leaves to the next one
) STRICT, WITHOUT ROWID;

-- A server of this database, written twice a minute; one that has been silent for a day is deleted.
CREATE TABLE nodes (
    id         BLOB PRIMARY KEY NOT NULL, -- drawn when it started
    host       TEXT NOT NULL,
    version    TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL
) STRICT;
