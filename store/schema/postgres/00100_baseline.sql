-- The schema. Both databases have the same tables and columns, in the same order: see sqlite/ for the other one.
--
-- Instants are UTC milliseconds, NULL where there is none. Ids are UUIDv7. Money is in 1/10,000 of a unit. Documents
-- are JSON as text, NULL where they are empty. Text compares by code point. A column that ends in _key is what search
-- compares: trimmed, lowered and brought to one form (loyalty.NameKey).
--
-- There are no sequences and no foreign keys between rows of customers, and the customer comes first in every key of
-- theirs, so that the tables can be spread over machines. An index exists only where an operation reads it, because
-- every insert pays for each.
--
-- Numbers below 100 belonged to migrations that were never released: a database that has one is refused.

-- +goose Up
-- cost: at once

-- ---------------------------------------------------------------------------------------------------------------------
-- Guards
-- ---------------------------------------------------------------------------------------------------------------------

-- A guarded write counts its rows here, inside the database, so that COMMIT can travel with it.
-- +goose StatementBegin
CREATE FUNCTION loyalty_expect(met bigint, wanted bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF met <> wanted THEN
        RAISE EXCEPTION 'a guarded write met % of % rows', met, wanted USING ERRCODE = 'LY001';
    END IF;
END $$;
-- +goose StatementEnd

-- Refuses changes of the journal.
-- +goose StatementBegin
CREATE FUNCTION loyalty_journal_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the journal is append-only: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'LY002';
END $$;
-- +goose StatementEnd

-- Refuses changes of the audit trail.
-- +goose StatementBegin
CREATE FUNCTION loyalty_audit_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is append-only: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'LY002';
END $$;
-- +goose StatementEnd

-- ---------------------------------------------------------------------------------------------------------------------
-- The programme: its configuration, and what every node has to agree on
-- ---------------------------------------------------------------------------------------------------------------------

-- One row. Every administrative change locks it and increments it, so that nodes see that their snapshot is old.
CREATE TABLE programme_version (
    id      integer PRIMARY KEY CHECK (id = 1),
    version bigint NOT NULL
);
INSERT INTO programme_version (id, version) VALUES (1, 0);

-- One row with a value that only the programme's master key opens: a node with another key stops before it seals.
CREATE TABLE master_check (
    id     integer PRIMARY KEY CHECK (id = 1),
    sealed bytea NOT NULL
);

-- The key under which names of stored answers are hashed, sealed under the master key. Without a row it is derived from
-- the master key; a change of the master key keeps it here, because those hashes cannot be made again.
CREATE TABLE names_key (
    id     integer PRIMARY KEY CHECK (id = 1),
    sealed bytea NOT NULL
);

-- One row: the settings of the whole programme.
CREATE TABLE settings (
    id                integer PRIMARY KEY CHECK (id = 1),
    currency          text COLLATE "C" NOT NULL,
    time_zone         text COLLATE "C" NOT NULL,
    acceptance_window bigint NOT NULL -- milliseconds
);

-- A module, whether it is on, and its configuration.
CREATE TABLE modules (
    name    text COLLATE "C" PRIMARY KEY,
    enabled boolean NOT NULL,
    config  text COLLATE "C"
);

-- A thing that a programme is made of: a reward, a campaign, a tier. Archived rows stay, because history names them.
CREATE TABLE entities (
    type        text COLLATE "C" NOT NULL,
    id          text COLLATE "C" NOT NULL,
    data        text COLLATE "C" NOT NULL,
    created_at  bigint NOT NULL,
    updated_at  bigint NOT NULL,
    archived_at bigint,
    PRIMARY KEY (type, id)
);
CREATE INDEX entities_created ON entities (type, created_at, id); -- lists

-- ---------------------------------------------------------------------------------------------------------------------
-- Access: keys of systems, users of the console, the trail of what they changed
-- ---------------------------------------------------------------------------------------------------------------------

-- A key that signs requests, and what it may do.
CREATE TABLE access_keys (
    id           text COLLATE "C" PRIMARY KEY,
    label        text COLLATE "C" NOT NULL,
    apis         text COLLATE "C",
    read_only    boolean NOT NULL,
    addresses    text COLLATE "C",
    rate_limit   integer NOT NULL,
    created_at   bigint NOT NULL,
    expires_at   bigint,
    revoked_at   bigint,
    last_used_at bigint
);

-- A secret of a key, sealed under the master key. A key has several while one replaces another.
CREATE TABLE key_secrets (
    key_id     text COLLATE "C" NOT NULL REFERENCES access_keys (id),
    id         uuid NOT NULL,
    sealed     bytea NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    PRIMARY KEY (key_id, id)
);

-- A change by an access key, a user or the program's own commands. Append-only.
CREATE TABLE audit (
    id         uuid PRIMARY KEY,
    at         bigint NOT NULL,
    actor      text COLLATE "C" NOT NULL,
    action     text COLLATE "C" NOT NULL,
    target     text COLLATE "C" NOT NULL,
    before     text COLLATE "C",
    after      text COLLATE "C",
    actor_kind text COLLATE "C" NOT NULL DEFAULT 'key'
);
CREATE INDEX audit_at ON audit (at, id); -- the trail, and its filters
CREATE INDEX audit_action ON audit (action, at, id);
CREATE INDEX audit_target ON audit (target, at, id);
CREATE INDEX audit_key ON audit (actor, at, id);
CREATE TRIGGER audit_stay BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION loyalty_audit_stays();
CREATE TRIGGER audit_whole BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION loyalty_audit_stays();

-- A user of the console. The password is an Argon2id string, the second factor is sealed under the master key.
CREATE TABLE users (
    id           uuid PRIMARY KEY,
    login        text COLLATE "C" NOT NULL UNIQUE,
    name         text COLLATE "C" NOT NULL,
    email        text COLLATE "C" NOT NULL,
    role         text COLLATE "C" NOT NULL,
    personal     boolean NOT NULL, -- may see personal data
    language     text COLLATE "C" NOT NULL,
    password     text COLLATE "C",
    totp_sealed  bytea,
    totp_step    bigint NOT NULL,  -- the last one whose code was taken
    recovery     text COLLATE "C", -- hashes of the codes that are left
    issuer       text COLLATE "C", -- of a provider that signs the user in
    subject      text COLLATE "C",
    created_at   bigint NOT NULL,
    updated_at   bigint NOT NULL,
    disabled_at  bigint,
    failures     integer NOT NULL,
    locked_until bigint,
    passkeys     text COLLATE "C", -- public keys, and what their devices said of them
    tries        text COLLATE "C", -- failed sign-ins by network
    browsers     text COLLATE "C", -- hashes of cookies of browsers that have signed in
    UNIQUE (issuer, subject)
);

-- A browser that is signed in, by the hash of its token.
CREATE TABLE sessions (
    token_hash   bytea PRIMARY KEY,
    user_id      uuid NOT NULL REFERENCES users (id),
    created_at   bigint NOT NULL,
    seen_at      bigint NOT NULL,
    expires_at   bigint NOT NULL,
    confirmed_at bigint,
    address      text COLLATE "C" NOT NULL,
    agent        text COLLATE "C" NOT NULL
);
CREATE INDEX sessions_user ON sessions (user_id); -- sign out everywhere
CREATE INDEX sessions_over ON sessions (expires_at); -- clean-up

-- A link that lets a user choose a password, by the hash of its token.
CREATE TABLE invitations (
    token_hash bytea PRIMARY KEY,
    user_id    uuid NOT NULL REFERENCES users (id),
    expires_at bigint NOT NULL,
    used_at    bigint
);
CREATE INDEX invitations_user ON invitations (user_id);
CREATE INDEX invitations_over ON invitations (expires_at); -- clean-up

-- What a passkey was asked to sign, hashed: good once, for minutes.
CREATE TABLE challenges (
    token_hash bytea PRIMARY KEY,
    expires_at bigint NOT NULL
);
CREATE INDEX challenges_over ON challenges (expires_at); -- clean-up

-- ---------------------------------------------------------------------------------------------------------------------
-- Customers
-- ---------------------------------------------------------------------------------------------------------------------

-- A name that callers choose, by kind and value, claimed once over the whole programme: ids, transactions, codes.
CREATE TABLE names (
    kind  smallint NOT NULL,
    value text COLLATE "C" NOT NULL,
    owner uuid NOT NULL,
    PRIMARY KEY (kind, value)
);
-- The names of an owner. Transactions (kind 2) are found through their own table: leaving them out saves each checkout
-- an entry.
CREATE INDEX names_owner ON names (owner) WHERE kind <> 2;

-- A customer's account and profile.
CREATE TABLE customers (
    id           uuid PRIMARY KEY,
    name         text COLLATE "C" NOT NULL,
    status       text COLLATE "C" NOT NULL,
    created_at   bigint NOT NULL,
    updated_at   bigint NOT NULL,
    merged_into  uuid, -- the customer who has the rows now, who is never merged
    handler      text COLLATE "C" NOT NULL DEFAULT '',
    email        text COLLATE "C" NOT NULL DEFAULT '',
    first_name   text COLLATE "C" NOT NULL DEFAULT '',
    last_name    text COLLATE "C" NOT NULL DEFAULT '',
    language     text COLLATE "C" NOT NULL DEFAULT '',
    gender       text COLLATE "C" NOT NULL DEFAULT '',
    currency     text COLLATE "C" NOT NULL DEFAULT '',
    image_url    text COLLATE "C" NOT NULL DEFAULT '',
    birth_date   text COLLATE "C" NOT NULL DEFAULT '',
    labels       text COLLATE "C",
    external_ids text COLLATE "C",
    custom       text COLLATE "C",
    referrer     uuid,
    handler_key  text COLLATE "C",
    email_key    text COLLATE "C",
    first_key    text COLLATE "C",
    last_key     text COLLATE "C"
);
-- Lists, newest first.
CREATE INDEX customers_created ON customers (created_at, id);
-- The search for a prefix.
CREATE INDEX customers_handler ON customers (handler_key text_pattern_ops) WHERE handler_key IS NOT NULL;
CREATE INDEX customers_email ON customers (email_key text_pattern_ops) WHERE email_key IS NOT NULL;
CREATE INDEX customers_first ON customers (first_key text_pattern_ops) WHERE first_key IS NOT NULL;
CREATE INDEX customers_last ON customers (last_key text_pattern_ops) WHERE last_key IS NOT NULL;
-- The customers who were merged into one.
CREATE INDEX customers_merged ON customers (merged_into) WHERE merged_into IS NOT NULL;
-- Filtered lists, and lists by name: status by status, with those who have no name last. No event changes the names.
CREATE INDEX customers_status ON customers (status, created_at, id);
CREATE INDEX customers_language ON customers (language, created_at, id);
CREATE INDEX customers_currency ON customers (currency, created_at, id);
CREATE INDEX customers_by_last ON customers (status, COALESCE(last_key, U&'\+10FFFF'), id);
CREATE INDEX customers_by_email ON customers (status, COALESCE(email_key, U&'\+10FFFF'), id);
-- ANALYZE keeps samples of what it reads, where opt_out cannot reach them: it takes none of personal data.
ALTER TABLE names ALTER value SET STATISTICS 0;
ALTER TABLE customers
    ALTER name SET STATISTICS 0, ALTER handler SET STATISTICS 0, ALTER email SET STATISTICS 0,
    ALTER first_name SET STATISTICS 0, ALTER last_name SET STATISTICS 0, ALTER gender SET STATISTICS 0,
    ALTER image_url SET STATISTICS 0, ALTER birth_date SET STATISTICS 0, ALTER labels SET STATISTICS 0,
    ALTER external_ids SET STATISTICS 0, ALTER custom SET STATISTICS 0, ALTER handler_key SET STATISTICS 0,
    ALTER email_key SET STATISTICS 0, ALTER first_key SET STATISTICS 0, ALTER last_key SET STATISTICS 0;
ALTER INDEX customers_by_last ALTER COLUMN 2 SET STATISTICS 0;
ALTER INDEX customers_by_email ALTER COLUMN 2 SET STATISTICS 0;

-- A customer's figures in points, the version that guards them, and the head of the chain of hashes. The one row that
-- every event changes: narrow, with room on its page, and with no index on what changes each time.
CREATE TABLE balances (
    customer_id      uuid PRIMARY KEY,
    version          bigint NOT NULL,
    score            bigint NOT NULL,
    spent            bigint NOT NULL,
    reserved         bigint NOT NULL,
    expired          bigint NOT NULL,
    pending          bigint NOT NULL,
    debt             bigint NOT NULL,
    last_event       uuid,
    due_at           bigint, -- when something of the customer has to be done next
    last_activity_at bigint,
    chain            bytea,
    chain_from       uuid    -- the first event of the chain
) WITH (fillfactor = 70);
CREATE INDEX balances_due ON balances (due_at) WHERE due_at IS NOT NULL; -- customers who are due

-- The key of a customer's personal data, sealed under the master key. opt_out deletes it.
CREATE TABLE customer_keys (
    customer_id uuid PRIMARY KEY,
    sealed      bytea NOT NULL
);
ALTER TABLE customer_keys ALTER sealed SET STATISTICS 0;

-- What a customer who left was called, sealed, until webhooks were told. Written only while there are webhooks.
CREATE TABLE leavers (
    customer_id uuid PRIMARY KEY,
    sealed      bytea NOT NULL,
    at          bigint NOT NULL
);
CREATE INDEX leavers_at ON leavers (at); -- clean-up

-- A customer on a list of customers.
CREATE TABLE list_members (
    customer_id uuid NOT NULL,
    list_id     text COLLATE "C" NOT NULL,
    PRIMARY KEY (customer_id, list_id)
);
CREATE INDEX list_members_list ON list_members (list_id, customer_id); -- the members of a list

-- ---------------------------------------------------------------------------------------------------------------------
-- The journal
-- ---------------------------------------------------------------------------------------------------------------------

-- What happened, as it was sent and with its effects. Append-only. Months are partitions, made ahead by the program;
-- the default one takes what has no month.
CREATE TABLE events (
    customer_id    uuid NOT NULL,
    id             uuid NOT NULL,
    recorded_at    bigint NOT NULL,
    at             bigint NOT NULL,  -- when it takes effect
    points         bigint,
    exp_date       bigint,
    parent         uuid,
    action         text COLLATE "C" NOT NULL,
    transaction_id text COLLATE "C",
    data           text COLLATE "C",
    personal       bytea,            -- the personal part of data, under the customer's key
    effects        text COLLATE "C",
    sent_by        text COLLATE "C", -- the id of an access key, or what stands in its place
    PRIMARY KEY (customer_id, id, recorded_at)
) PARTITION BY RANGE (recorded_at);
CREATE TABLE events_default PARTITION OF events DEFAULT;
-- Lists over all customers and of one action; both grow at their right edge only. Most events take effect when they are
-- recorded: events_late has the others.
CREATE INDEX events_recorded ON events (recorded_at, id);
CREATE INDEX events_action ON events (action, recorded_at, id);
CREATE INDEX events_late ON events (at, id) WHERE at < recorded_at;
-- The events of a purchase.
CREATE INDEX events_transaction ON events (customer_id, transaction_id, id) WHERE transaction_id IS NOT NULL;
CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION loyalty_journal_stays();
CREATE TRIGGER events_whole BEFORE TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION loyalty_journal_stays();
CREATE TRIGGER events_whole BEFORE TRUNCATE ON events_default
    FOR EACH STATEMENT EXECUTE FUNCTION loyalty_journal_stays();

-- Makes one month of the journal, guarded like the rest of it. It does nothing where the month exists, and where events
-- of that month are in the default partition: then the whole month stays there.
-- +goose StatementBegin
CREATE FUNCTION loyalty_journal_month(month text, starts bigint, ends bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE part text := 'events_' || month;
BEGIN
    IF to_regclass(part) IS NOT NULL THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('loyalty_journal_month'));
    IF to_regclass(part) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE %I PARTITION OF events FOR VALUES FROM (%s) TO (%s)', part, starts, ends);
    EXECUTE format('CREATE TRIGGER events_whole BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION loyalty_journal_stays()', part);
EXCEPTION WHEN check_violation THEN
    NULL;
END $$;
-- +goose StatementEnd

-- ---------------------------------------------------------------------------------------------------------------------
-- The ledger: postings, and the states that the journal folds to
-- ---------------------------------------------------------------------------------------------------------------------

-- Points that an event moved from one account to another. Append-only.
CREATE TABLE postings (
    customer_id  uuid NOT NULL,
    event_id     uuid NOT NULL,
    lot_id       uuid,
    points       bigint NOT NULL CHECK (points > 0),
    seq          integer NOT NULL,
    from_account smallint NOT NULL,
    to_account   smallint NOT NULL,
    PRIMARY KEY (customer_id, event_id, seq)
);
CREATE TRIGGER postings_stay BEFORE UPDATE OR DELETE ON postings FOR EACH ROW EXECUTE FUNCTION loyalty_journal_stays();
CREATE TRIGGER postings_whole BEFORE TRUNCATE ON postings FOR EACH STATEMENT EXECUTE FUNCTION loyalty_journal_stays();

-- Points that were credited together, and what became of them.
CREATE TABLE lots (
    customer_id    uuid NOT NULL,
    id             uuid NOT NULL,
    points         bigint NOT NULL,
    remaining      bigint NOT NULL,
    reserved       bigint NOT NULL,
    spent          bigint NOT NULL,
    expired        bigint NOT NULL,
    earned_at      bigint NOT NULL,
    expires_at     bigint,
    idle_months    integer NOT NULL, -- expires after so long without activity
    idle_days      integer NOT NULL,
    open           boolean NOT NULL, -- remaining + reserved > 0; a column of its own, so that spending a part stays HOT
    transaction_id text COLLATE "C",
    origin         integer NOT NULL DEFAULT 0, -- what it was given for (points.Origin)
    PRIMARY KEY (customer_id, id),
    CHECK (remaining >= 0 AND reserved >= 0 AND spent >= 0 AND expired >= 0)
) WITH (fillfactor = 90);
CREATE INDEX lots_open ON lots (customer_id) WHERE open; -- a batch loads a customer
CREATE INDEX lots_held ON lots (customer_id) WHERE reserved > 0; -- a batch ends a reservation

-- A purchase in its present state.
CREATE TABLE transactions (
    customer_id     uuid NOT NULL,
    transaction_id  text COLLATE "C" NOT NULL,
    state           text COLLATE "C" NOT NULL,
    checkout        uuid NOT NULL, -- its event
    created_at      bigint NOT NULL,
    updated_at      bigint NOT NULL,
    checkout_date   bigint,
    auto_accept     bigint,
    auto_reject     boolean NOT NULL,
    total           bigint NOT NULL,
    original_total  bigint NOT NULL,
    refunded        bigint NOT NULL,
    original_earned bigint NOT NULL, -- points, as are the next three
    earned          bigint NOT NULL,
    original_burned bigint NOT NULL,
    burned          bigint NOT NULL,
    detail          text COLLATE "C",
    pieces          integer NOT NULL DEFAULT 0, -- rows of purchase_lines; 0: the lines are in detail
    PRIMARY KEY (customer_id, transaction_id)
);
CREATE INDEX transactions_due ON transactions (customer_id) WHERE state = 'pending' AND auto_accept IS NOT NULL;
CREATE INDEX transactions_newest ON transactions (customer_id, created_at, checkout); -- a customer's list

-- 64 lines of a purchase that has more, as a JSON array, so that a change of one line does not write them all.
CREATE TABLE purchase_lines (
    customer_id    uuid NOT NULL,
    transaction_id text COLLATE "C" NOT NULL,
    piece          integer NOT NULL,
    lines          text COLLATE "C" NOT NULL,
    PRIMARY KEY (customer_id, transaction_id, piece)
);

-- Points that wait for a purchase, lot by lot.
CREATE TABLE reservations (
    customer_id    uuid NOT NULL,
    transaction_id text COLLATE "C" NOT NULL,
    hold           text COLLATE "C",
    PRIMARY KEY (customer_id, transaction_id)
);

-- The head of a customer's chain of hashes, as the last anchor found it (store/chain_anchor.go). A head that an anchor
-- notes stands beside the one before until that anchor is complete.
CREATE TABLE anchored (
    customer_id uuid PRIMARY KEY,
    event_id    uuid NOT NULL,
    head        bytea NOT NULL,
    number      bigint NOT NULL DEFAULT 0, -- the anchor that found it
    kept_event  uuid,                      -- what the one before found
    kept_head   bytea
);

-- An anchor: a digest of all heads.
CREATE TABLE anchors (
    number    bigint PRIMARY KEY,
    at        bigint NOT NULL,
    customers bigint NOT NULL,
    digest    bytea NOT NULL
);

-- The run that may write the heads of an anchor: the one that began last.
CREATE TABLE anchoring (
    number  bigint PRIMARY KEY,
    attempt uuid NOT NULL
);

-- A verification of the ledger: how many invariants held, were broken, could not be checked, and which.
CREATE TABLE ledger_proofs (
    id            uuid PRIMARY KEY,
    at            bigint NOT NULL,
    held          bigint NOT NULL,
    broken        bigint NOT NULL,
    unchecked     bigint NOT NULL,
    actor         text COLLATE "C",
    actor_kind    text COLLATE "C",
    broken_ids    text COLLATE "C",
    unchecked_ids text COLLATE "C"
);
CREATE INDEX ledger_proofs_at ON ledger_proofs (at, id); -- the list, newest first

-- ---------------------------------------------------------------------------------------------------------------------
-- What rules remember of customers
-- ---------------------------------------------------------------------------------------------------------------------

-- A customer's position in one thing of the programme: a tier (kind 1), a challenge, a reward.
CREATE TABLE progress (
    customer_id uuid NOT NULL,
    kind        smallint NOT NULL,
    key         text COLLATE "C" NOT NULL,
    data        text COLLATE "C" NOT NULL,
    due_at      bigint,
    -- Made by the database, so that no program can leave it behind; an update that keeps the tier spares the index.
    tier        text COLLATE "C" GENERATED ALWAYS AS (CASE WHEN kind = 1 THEN CAST(data AS json) ->> 'tier' END) STORED,
    PRIMARY KEY (customer_id, kind, key)
) WITH (fillfactor = 90);
CREATE INDEX progress_due ON progress (customer_id) WHERE due_at IS NOT NULL;
CREATE INDEX progress_tier ON progress (tier, customer_id) WHERE tier IS NOT NULL; -- the customers of a tier

-- A claim of a reward.
CREATE TABLE claims (
    customer_id uuid NOT NULL,
    id          uuid NOT NULL,
    reward      text COLLATE "C" NOT NULL,
    state       text COLLATE "C" NOT NULL,
    points      bigint NOT NULL, -- what it cost
    award       bigint NOT NULL, -- points that it gave
    coupon      text COLLATE "C",
    claimed_at  bigint NOT NULL,
    updated_at  bigint NOT NULL,
    burn        text COLLATE "C",
    PRIMARY KEY (customer_id, id)
);
CREATE INDEX claims_id ON claims (id); -- found without the customer
CREATE INDEX claims_newest ON claims (customer_id, claimed_at, id); -- a customer's list

-- A count that all customers share, such as how often a reward was claimed.
CREATE TABLE tallies (
    key   text COLLATE "C" PRIMARY KEY,
    count bigint NOT NULL
) WITH (fillfactor = 50);

-- What a campaign did in all. Writers only add to it, as a rule each to another slot, so that none waits for another;
-- the figures of a campaign are the sum of its slots.
CREATE TABLE campaign_figures (
    campaign   text COLLATE "C" NOT NULL,
    slot       smallint NOT NULL,
    runs       bigint NOT NULL, -- times it gave something
    customers  bigint NOT NULL,
    points     bigint NOT NULL,
    taken_back bigint NOT NULL, -- of the points, by refunds
    coupons    bigint NOT NULL,
    labels     bigint NOT NULL,
    tiers      bigint NOT NULL,
    challenge  bigint NOT NULL, -- by how much it moved challenges
    first_at   bigint,
    last_at    bigint,
    PRIMARY KEY (campaign, slot)
) WITH (fillfactor = 50);

-- A customer to whom a campaign gave something, also through a customer who was merged into that one.
CREATE TABLE campaign_customers (
    customer_id uuid NOT NULL,
    campaign    text COLLATE "C" NOT NULL,
    PRIMARY KEY (customer_id, campaign)
);

-- ---------------------------------------------------------------------------------------------------------------------
-- Coupons
-- ---------------------------------------------------------------------------------------------------------------------

-- A coupon. Its code is claimed in names, with the coupon as the owner.
CREATE TABLE coupons (
    id          uuid PRIMARY KEY,
    code        text COLLATE "C" NOT NULL,
    state       text COLLATE "C" NOT NULL,
    customer_id uuid,
    type        text COLLATE "C" NOT NULL,
    value       bigint NOT NULL,
    balance     bigint NOT NULL,
    currency    text COLLATE "C" NOT NULL,
    name        text COLLATE "C",
    pool        text COLLATE "C",
    reward      text COLLATE "C",
    cost        bigint NOT NULL,
    stores      text COLLATE "C",
    products    text COLLATE "C",
    created_at  bigint NOT NULL,
    claimed_at  bigint,
    redeemed_at bigint,
    expires_at  bigint,
    version     bigint NOT NULL,
    uses        text COLLATE "C",
    given       uuid,                          -- the event that gave it: a code can be given again
    voided      boolean NOT NULL DEFAULT false -- taken back for good, with the purchase that brought it
);
CREATE INDEX coupons_created ON coupons (created_at, id); -- the list, newest first
CREATE INDEX coupons_free ON coupons (pool, id) WHERE state = 'created'; -- the next code of a pool
CREATE INDEX coupons_pool ON coupons (pool, created_at, id) WHERE pool IS NOT NULL; -- the list of a pool
CREATE INDEX coupons_state ON coupons (state, created_at, id); -- the list of a state
CREATE INDEX coupons_expiring ON coupons (expires_at) WHERE expires_at IS NOT NULL; -- what has expired
CREATE INDEX coupons_held ON coupons (customer_id, claimed_at, id) WHERE customer_id IS NOT NULL; -- a customer's list
CREATE INDEX coupons_type ON coupons (type, created_at, id); -- the list of a type
-- A pool's codes by state and how many were given of late, counted without reading the rows.
CREATE INDEX coupons_counted ON coupons (pool, state, created_at, id) INCLUDE (expires_at, claimed_at)
    WHERE pool IS NOT NULL;

-- An event that changed a coupon: the journal is kept by customer, and a coupon passes through several hands.
CREATE TABLE coupon_events (
    coupon_id   uuid NOT NULL,
    version     bigint NOT NULL, -- of the coupon, after the event
    customer_id uuid NOT NULL,
    event_id    uuid NOT NULL,
    recorded_at bigint NOT NULL, -- leads to the month of the journal
    PRIMARY KEY (coupon_id, version)
);

-- ---------------------------------------------------------------------------------------------------------------------
-- Bulk: work on many things at once
-- ---------------------------------------------------------------------------------------------------------------------

-- An operation that goes on after its request was answered. What one kind keeps from piece to piece is in progress.
CREATE TABLE bulk_operations (
    id          uuid PRIMARY KEY,
    kind        text COLLATE "C" NOT NULL,
    target      text COLLATE "C" NOT NULL,
    state       text COLLATE "C" NOT NULL,
    done        bigint NOT NULL, -- with those that were refused
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
CREATE INDEX bulk_operations_finished ON bulk_operations (finished_at) WHERE finished_at IS NOT NULL; -- clean-up

-- A customer of an operation, or a code that it refused. The customer's name is deleted when the item is done, unless
-- it was refused, and in any case when the customer leaves.
CREATE TABLE bulk_items (
    batch_id    uuid NOT NULL,
    seq         integer NOT NULL,
    customer    text COLLATE "C",
    customer_id uuid,
    error       text COLLATE "C",
    done_at     bigint,
    code        text COLLATE "C",
    count       bigint NOT NULL DEFAULT 1, -- so many codes, from the one at seq on
    data        text COLLATE "C",          -- what it is about besides the customer; deleted when it is done
    PRIMARY KEY (batch_id, seq)
) WITH (fillfactor = 80);
CREATE INDEX bulk_items_refused ON bulk_items (batch_id, seq) WHERE error IS NOT NULL; -- the list of errors
CREATE INDEX bulk_items_customer ON bulk_items (customer) WHERE customer IS NOT NULL; -- a customer leaves
ALTER TABLE bulk_items ALTER customer SET STATISTICS 0;

-- Uploaded codes that wait to be added to a pool, a JSON list a row. They are kept before their operation exists, and
-- deleted as they are added.
CREATE TABLE kept_codes (
    batch_id uuid NOT NULL,
    place    bigint NOT NULL, -- of the first one in the upload
    codes    text COLLATE "C" NOT NULL,
    kept_at  bigint NOT NULL,
    PRIMARY KEY (batch_id, place)
);

-- An import from another system, kept for good so that no file is taken over twice. Its id is that of its operation.
CREATE TABLE imports (
    id         uuid PRIMARY KEY,
    digest     text COLLATE "C" NOT NULL, -- of the files and how they were read
    total      bigint NOT NULL,           -- rows of all files
    staged     bigint NOT NULL,           -- so many of them are items
    created_at bigint NOT NULL,
    begun_at   bigint,                    -- when its operation began; NULL: not yet
    key_id     text COLLATE "C" NOT NULL
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX imports_digest ON imports (digest);

-- An import that arrives over HTTP: how its files are read, and its state. Its rows are an import of imports.
CREATE TABLE uploads (
    id         uuid PRIMARY KEY,
    label      text COLLATE "C" NOT NULL,
    options    text COLLATE "C" NOT NULL, -- how the files are read
    state      text COLLATE "C" NOT NULL,
    plan       text COLLATE "C",          -- of the last check
    account    text COLLATE "C",          -- of the last comparison with the ledger
    fault      text COLLATE "C",          -- why the last of them failed
    findings   bigint,                    -- of the last of them
    import_id  uuid,                      -- NULL: it has not begun
    key_id     text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);
CREATE INDEX uploads_state ON uploads (state);

-- A part of an uploaded file or of what was found in it, sealed; deleted seven days after the last change.
CREATE TABLE upload_parts (
    upload_id uuid NOT NULL REFERENCES uploads (id),
    file      text COLLATE "C" NOT NULL, -- its kind, or findings
    part      bigint NOT NULL,
    bytes     bigint NOT NULL,           -- of what is sealed
    sealed    bytea NOT NULL,
    PRIMARY KEY (upload_id, file, part)
);

-- ---------------------------------------------------------------------------------------------------------------------
-- Requests
-- ---------------------------------------------------------------------------------------------------------------------

-- The answer of an idempotent request, kept for a day, under a hash of its key. body and block, the customer as the
-- answer shows them, are sealed apart: under the customer's key where there is one, else under the master key.
CREATE TABLE answers (
    access_key  text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    hash        bytea NOT NULL, -- of the request
    status      integer NOT NULL,
    body        bytea NOT NULL,
    customer_id uuid,
    at          bigint NOT NULL,
    block       bytea,
    language    text NOT NULL DEFAULT '', -- of its texts
    PRIMARY KEY (access_key, key)
);
CREATE INDEX answers_at ON answers (at); -- clean-up

-- The signature of a write, for as long as it could be sent again (replay guard).
CREATE TABLE taken_signatures (
    signature  bytea PRIMARY KEY,
    good_until bigint NOT NULL
);
CREATE INDEX taken_signatures_until ON taken_signatures (good_until); -- clean-up

-- A request of any node that was answered as an error. Of what callers send it has the method only.
CREATE TABLE failed_requests (
    id         uuid PRIMARY KEY,
    at         bigint NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    method     text COLLATE "C" NOT NULL,
    route      text COLLATE "C" NOT NULL DEFAULT '',
    api        text COLLATE "C" NOT NULL DEFAULT '',
    status     integer NOT NULL,
    code       bigint NOT NULL,
    key_id     text COLLATE "C" NOT NULL DEFAULT '',
    fields     text COLLATE "C",
    duration   bigint NOT NULL -- microseconds
);
CREATE INDEX failed_requests_at ON failed_requests (at, id); -- the list, and clean-up

-- ---------------------------------------------------------------------------------------------------------------------
-- Followers of committed events
-- ---------------------------------------------------------------------------------------------------------------------

-- The tail: a committed event under a number that was given after its commit, without a gap, so that a follower misses
-- none (store/tail.go).
CREATE TABLE tail (
    number      bigint PRIMARY KEY,
    customer_id uuid NOT NULL,
    event_id    uuid NOT NULL,
    recorded_at bigint NOT NULL -- leads to the month of the journal
);

-- Up to which event a customer is in the tail.
CREATE TABLE numbered (
    customer_id uuid PRIMARY KEY,
    through     uuid NOT NULL
) WITH (fillfactor = 70);

-- One row, which the node that gives numbers has locked.
CREATE TABLE tail_state (
    id          smallint PRIMARY KEY CHECK (id = 1),
    head        bigint NOT NULL,  -- the last number; 0: none
    present     boolean NOT NULL, -- whether every event of an earlier journal has its number
    looked_at   bigint,           -- what was recorded before then was looked for, but for what commits late
    compared_at bigint            -- when every customer was last compared with the journal
) WITH (fillfactor = 50);
INSERT INTO tail_state (id, head, present) VALUES (1, 0, true);

-- A follower of the tail, and the number up to which it did its work.
CREATE TABLE followers (
    name     text COLLATE "C" PRIMARY KEY,
    position bigint NOT NULL
) WITH (fillfactor = 50);

-- One row, once there is a leaderboard. Boards exist in two sets, so that the whole one is shown while the other is
-- counted anew.
CREATE TABLE leaderboard (
    id         smallint PRIMARY KEY CHECK (id = 1),
    zone       text COLLATE "C" NOT NULL,
    version    bigint NOT NULL, -- of the programme whose zone it is
    generation bigint NOT NULL, -- grows when the boards of days are counted anew
    built      bigint NOT NULL, -- the last generation that is complete; 0: none is
    dated      bigint NOT NULL, -- boards of days count up to it; -1: rows of the last generation remain
    side       smallint NOT NULL DEFAULT 0,          -- the whole set
    whole_zone text COLLATE "C" NOT NULL DEFAULT '', -- its zone
    whole      bigint NOT NULL DEFAULT 0             -- up to which number it counts while the other is counted
);

-- What a customer scored in one period. A board of side 1 has its kind plus 8.
CREATE TABLE rankings (
    customer_id uuid NOT NULL,
    kind        smallint NOT NULL,
    start       integer NOT NULL, -- the first day of the period, in days since 1970-01-01, in the zone
    score       bigint NOT NULL,
    shown       boolean NOT NULL,
    PRIMARY KEY (customer_id, kind, start)
);
CREATE INDEX rankings_order ON rankings (kind, start, shown, score, customer_id); -- a board

-- How many customers are shown with scores of one stretch, always in step with rankings: a rank far down is added up
-- from it instead of counted row by row.
CREATE TABLE ranking_counts (
    kind      smallint NOT NULL,
    start     integer NOT NULL,
    stretch   integer NOT NULL,
    customers bigint NOT NULL,
    PRIMARY KEY (kind, start, stretch)
) WITH (fillfactor = 50);

-- One row, from the first fold of statistics on. The number up to which the tail was folded is in followers. Without a
-- zone the past is folded anew.
CREATE TABLE statistics (
    id              smallint PRIMARY KEY CHECK (id = 1),
    zone            text COLLATE "C" NOT NULL,
    version         bigint NOT NULL, -- of the programme whose zone it is
    generation      bigint NOT NULL, -- grows when everything is folded anew
    photographed_at bigint
);

-- A metric on one day of the programme's zone. A key is what it is broken down by, the currency and the name of the
-- part, with U+001F between them. Values are whole numbers as text, because sums do not fit 64 bits.
CREATE TABLE figures (
    metric text COLLATE "C" NOT NULL,
    key    text COLLATE "C" NOT NULL,
    day    integer NOT NULL, -- since 1970-01-01
    value  text COLLATE "C" NOT NULL,
    PRIMARY KEY (metric, key, day)
);

-- How much of a purchase was counted as given back: an event has the sum of all its refunds.
CREATE TABLE figure_refunds (
    transaction_id text COLLATE "C" PRIMARY KEY,
    refunded       bigint NOT NULL
);

-- ---------------------------------------------------------------------------------------------------------------------
-- Webhooks
-- ---------------------------------------------------------------------------------------------------------------------

-- An address that is told of events. It follows the tail by a position of its own.
CREATE TABLE webhooks (
    id              uuid PRIMARY KEY,
    label           text COLLATE "C" NOT NULL,
    url             text COLLATE "C" NOT NULL,
    types           text COLLATE "C" NOT NULL,
    filter          text COLLATE "C",
    ordered         boolean NOT NULL,
    version         text COLLATE "C" NOT NULL,
    include         text COLLATE "C",
    format          text COLLATE "C" NOT NULL,
    headers         bytea,           -- sealed
    concurrency     integer NOT NULL,
    state           text COLLATE "C" NOT NULL,
    reason          text COLLATE "C",
    cursor          bigint NOT NULL, -- up to this number of the tail its deliveries are decided
    last_number     bigint NOT NULL, -- of its deliveries
    failures        integer NOT NULL,
    tries           integer NOT NULL,
    failing_since   bigint,
    told            boolean NOT NULL,
    pace            integer NOT NULL,
    rest_until      bigint,
    last_success_at bigint,
    created_at      bigint NOT NULL,
    updated_at      bigint NOT NULL,
    revision        bigint NOT NULL DEFAULT 0 -- how often its types and filter were changed
) WITH (fillfactor = 50);
CREATE INDEX webhooks_state ON webhooks (state);

-- A secret with which a webhook signs, sealed under the master key.
CREATE TABLE webhook_secrets (
    webhook_id uuid NOT NULL,
    id         uuid NOT NULL,
    sealed     bytea NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    PRIMARY KEY (webhook_id, id)
);

-- An event on its way. What is sent is made of the journal at that moment: nothing personal is here in clear.
CREATE TABLE deliveries (
    webhook_id  uuid NOT NULL,
    number      bigint NOT NULL, -- of the webhook: 1, 2, 3 …
    sequence    bigint,          -- in the tail; NULL: a notice
    customer_id uuid,
    event_id    uuid NOT NULL,
    type        text COLLATE "C" NOT NULL,
    previous    bigint,          -- the sequence before it of the same customer
    replay      boolean NOT NULL,
    state       text COLLATE "C" NOT NULL,
    front       boolean NOT NULL, -- it waits, and it is its turn among those of its customer
    attempts    integer NOT NULL,
    next_at     bigint NOT NULL,
    owner       uuid,
    lease_until bigint,
    created_at  bigint NOT NULL,
    last_at     bigint,
    last_status integer NOT NULL,
    last_fault  text COLLATE "C",
    notice      text COLLATE "C",
    subject     bytea,                     -- what a customer who left was called, sealed
    revision    bigint NOT NULL DEFAULT 0, -- of the webhook that decided it: a later one judges it again
    reason      text COLLATE "C",          -- why it was skipped
    PRIMARY KEY (webhook_id, number)
) WITH (fillfactor = 70);
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
    webhook_id uuid NOT NULL,
    number     bigint NOT NULL,
    n          integer NOT NULL,
    at         bigint NOT NULL,
    status     integer NOT NULL,
    fault      text COLLATE "C",
    duration   bigint NOT NULL, -- microseconds
    answer     bytea,           -- sealed, under the customer's key where there is one
    PRIMARY KEY (webhook_id, number, n)
);
CREATE INDEX attempts_at ON attempts (at); -- clean-up

-- A stretch of the past that is sent again.
CREATE TABLE replays (
    id          uuid PRIMARY KEY,
    webhook_id  uuid NOT NULL,
    types       text COLLATE "C",
    customer_id uuid,
    from_at     bigint NOT NULL,
    to_at       bigint NOT NULL,
    position    bigint NOT NULL,
    until       bigint NOT NULL,
    at          bigint NOT NULL
);

-- Something that the platform itself tells webhooks, until their deliveries are decided.
CREATE TABLE notices (
    id    uuid PRIMARY KEY,
    type  text COLLATE "C" NOT NULL,
    about uuid,
    data  text COLLATE "C" NOT NULL,
    at    bigint NOT NULL
);

-- ---------------------------------------------------------------------------------------------------------------------
-- The installation
-- ---------------------------------------------------------------------------------------------------------------------

-- A job, held by the node that does it until lease_until.
CREATE TABLE jobs (
    name        text COLLATE "C" PRIMARY KEY,
    next_at     bigint NOT NULL, -- it is due from then on
    owner       text COLLATE "C",
    lease_until bigint,
    started_at  bigint,
    finished_at bigint,
    done        bigint NOT NULL, -- items of the last run, or of the present one
    failed      bigint NOT NULL,
    result      text COLLATE "C", -- why the last run failed; NULL: it did not
    runs        bigint NOT NULL,  -- that came to their end
    state       text COLLATE "C"  -- what a run leaves to the next one
);

-- A server of this database, written twice a minute; one that has been silent for a day is deleted.
CREATE TABLE nodes (
    id         uuid PRIMARY KEY, -- drawn when it started
    host       text COLLATE "C" NOT NULL,
    version    text COLLATE "C" NOT NULL,
    started_at bigint NOT NULL,
    seen_at    bigint NOT NULL
) WITH (fillfactor = 50);

-- ---------------------------------------------------------------------------------------------------------------------
-- Views for programs that report and load warehouses: names and columns that stay, nothing personal, instants with
-- their zone. A role that may read these three needs to read nothing else.
-- ---------------------------------------------------------------------------------------------------------------------

CREATE VIEW export_events AS
SELECT t.number AS sequence, e.id AS event_id, e.customer_id, to_timestamp(e.recorded_at / 1000.0) AS recorded_at,
    to_timestamp(e.at / 1000.0) AS at, e.action, e.points, e.parent AS parent_id, e.transaction_id,
    to_timestamp(e.exp_date / 1000.0) AS expires_at, e.data::jsonb AS data
FROM tail t
JOIN events e ON e.customer_id = t.customer_id AND e.id = t.event_id AND e.recorded_at = t.recorded_at;

CREATE VIEW export_postings AS
SELECT p.customer_id, p.event_id, p.seq,
    (ARRAY['issued', 'available', 'reserved', 'spent', 'expired', 'debt', 'promised',
        'pending'])[p.from_account] AS from_account,
    (ARRAY['issued', 'available', 'reserved', 'spent', 'expired', 'debt', 'promised',
        'pending'])[p.to_account] AS to_account,
    p.points, p.lot_id
FROM postings p;

CREATE VIEW export_customers AS
SELECT c.id AS customer_id, c.status, to_timestamp(c.created_at / 1000.0) AS created_at,
    to_timestamp(c.updated_at / 1000.0) AS updated_at, c.merged_into, c.referrer AS referrer_id, b.version, b.score,
    b.score - b.spent - b.reserved - b.expired AS spendable, b.spent, b.reserved, b.expired, b.pending, b.debt,
    to_timestamp(b.last_activity_at / 1000.0) AS last_activity_at
FROM customers c
JOIN balances b ON b.customer_id = c.id;
