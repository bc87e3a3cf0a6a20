-- +goose Up

-- Times are UTC milliseconds (NULL: none), ids UUIDv7, money 1/10,000 of a unit, documents JSON text (NULL: empty). Text compares by code point.
-- No foreign keys, no sequences, and the customer leads every key of theirs: the schema can be spread over machines.

CREATE TABLE names (
    kind  smallint NOT NULL,
    value text COLLATE "C" NOT NULL,
    owner uuid NOT NULL,
    PRIMARY KEY (kind, value)
);
-- Transactions (kind 2) are found through their own table; leaving them out keeps a checkout at one entry.
CREATE INDEX names_owner ON names (owner) WHERE kind <> 2;

CREATE TABLE customers (
    id           uuid PRIMARY KEY,
    name         text COLLATE "C" NOT NULL,
    status       text COLLATE "C" NOT NULL,
    created_at   bigint NOT NULL,
    updated_at   bigint NOT NULL,
    merged_into  uuid,
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
    -- what search and matching compare: trimmed and lower-case, NULL where there is nothing
    handler_key  text COLLATE "C",
    email_key    text COLLATE "C",
    first_key    text COLLATE "C",
    last_key     text COLLATE "C"
);
CREATE INDEX customers_created ON customers (created_at, id);
CREATE INDEX customers_handler ON customers (handler_key text_pattern_ops) WHERE handler_key IS NOT NULL;
CREATE INDEX customers_email ON customers (email_key text_pattern_ops) WHERE email_key IS NOT NULL;
CREATE INDEX customers_first ON customers (first_key text_pattern_ops) WHERE first_key IS NOT NULL;
CREATE INDEX customers_last ON customers (last_key text_pattern_ops) WHERE last_key IS NOT NULL;

-- The one row that every event changes: narrow, with room on its page, and no index on what changes each time.
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
    due_at           bigint,
    last_activity_at bigint
) WITH (fillfactor = 70);
CREATE INDEX balances_due ON balances (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE customer_keys (
    customer_id uuid PRIMARY KEY,
    sealed      bytea NOT NULL
);

-- The journal. Its months are partitions, made ahead by the program; the default one catches what nobody foresaw.
CREATE TABLE events (
    customer_id    uuid NOT NULL,
    id             uuid NOT NULL,
    recorded_at    bigint NOT NULL,
    at             bigint NOT NULL,
    points         bigint,
    exp_date       bigint,
    parent         uuid,
    action         text COLLATE "C" NOT NULL,
    transaction_id text COLLATE "C",
    data           text COLLATE "C",
    personal       bytea,
    effects        text COLLATE "C",
    PRIMARY KEY (customer_id, id, recorded_at)
) PARTITION BY RANGE (recorded_at);
CREATE TABLE events_default PARTITION OF events DEFAULT;

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

-- +goose StatementBegin
CREATE FUNCTION loyalty_journal_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the journal is append-only: % of % is refused', TG_OP, TG_TABLE_NAME USING ERRCODE = 'LY002';
END $$;
-- +goose StatementEnd
CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION loyalty_journal_stays();
CREATE TRIGGER events_whole BEFORE TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION loyalty_journal_stays();
CREATE TRIGGER events_whole BEFORE TRUNCATE ON events_default FOR EACH STATEMENT EXECUTE FUNCTION loyalty_journal_stays();
CREATE TRIGGER postings_stay BEFORE UPDATE OR DELETE ON postings FOR EACH ROW EXECUTE FUNCTION loyalty_journal_stays();
CREATE TRIGGER postings_whole BEFORE TRUNCATE ON postings FOR EACH STATEMENT EXECUTE FUNCTION loyalty_journal_stays();

-- Makes one month of the journal, guarded like the rest of it. Does nothing where it exists, and where events of that
-- month are in the default partition already: then the whole month belongs there.
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

-- A guarded write counts its rows here, inside the database, so that COMMIT can travel with it.
-- +goose StatementBegin
CREATE FUNCTION loyalty_expect(met bigint, wanted bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF met <> wanted THEN
        RAISE EXCEPTION 'a guarded write met % of % rows', met, wanted USING ERRCODE = 'LY001';
    END IF;
END $$;
-- +goose StatementEnd

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
    idle_months    integer NOT NULL,
    idle_days      integer NOT NULL,
    open           boolean NOT NULL, -- remaining + reserved > 0; a column of its own, so that spending a part stays HOT
    transaction_id text COLLATE "C",
    PRIMARY KEY (customer_id, id),
    CHECK (remaining >= 0 AND reserved >= 0 AND spent >= 0 AND expired >= 0)
) WITH (fillfactor = 90);
CREATE INDEX lots_open ON lots (customer_id) WHERE open;
CREATE INDEX lots_held ON lots (customer_id) WHERE reserved > 0;

CREATE TABLE transactions (
    customer_id     uuid NOT NULL,
    transaction_id  text COLLATE "C" NOT NULL,
    state           text COLLATE "C" NOT NULL,
    checkout        uuid NOT NULL,
    created_at      bigint NOT NULL,
    updated_at      bigint NOT NULL,
    checkout_date   bigint,
    auto_accept     bigint,
    auto_reject     boolean NOT NULL,
    total           bigint NOT NULL,
    original_total  bigint NOT NULL,
    refunded        bigint NOT NULL,
    original_earned bigint NOT NULL,
    earned          bigint NOT NULL,
    original_burned bigint NOT NULL,
    burned          bigint NOT NULL,
    detail          text COLLATE "C",
    PRIMARY KEY (customer_id, transaction_id)
);
CREATE INDEX transactions_due ON transactions (customer_id) WHERE state = 'pending' AND auto_accept IS NOT NULL;

CREATE TABLE reservations (
    customer_id    uuid NOT NULL,
    transaction_id text COLLATE "C" NOT NULL,
    hold           text COLLATE "C",
    PRIMARY KEY (customer_id, transaction_id)
);

CREATE TABLE answers (
    access_key  text COLLATE "C" NOT NULL,
    key         text COLLATE "C" NOT NULL,
    hash        bytea NOT NULL,
    status      integer NOT NULL,
    body        bytea NOT NULL,
    customer_id uuid,
    at          bigint NOT NULL,
    PRIMARY KEY (access_key, key)
);
CREATE INDEX answers_at ON answers (at);

-- +goose Down
DROP TABLE answers, reservations, transactions, lots, postings, events, customer_keys, balances, customers, names;
DROP FUNCTION loyalty_expect(bigint, bigint);
DROP FUNCTION loyalty_journal_month(text, bigint, bigint);
DROP FUNCTION loyalty_journal_stays();
