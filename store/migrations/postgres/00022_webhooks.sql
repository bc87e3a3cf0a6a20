-- +goose Up

-- Addresses that are told of events: each follows the tail by a position of its own.
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
    cursor          bigint NOT NULL, -- up to this number of the tail it was looked what to send
    last_number     bigint NOT NULL, -- of its deliveries
    failures        integer NOT NULL,
    tries           integer NOT NULL,
    failing_since   bigint,
    told            boolean NOT NULL,
    pace            integer NOT NULL,
    rest_until      bigint,
    last_success_at bigint,
    created_at      bigint NOT NULL,
    updated_at      bigint NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX webhooks_state ON webhooks (state);

CREATE TABLE webhook_secrets (
    webhook_id uuid NOT NULL,
    id         uuid NOT NULL,
    sealed     bytea NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    PRIMARY KEY (webhook_id, id)
);

-- Events on their way. What is sent is made of the journal when it is sent: nothing personal is here.
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
    subject     bytea,           -- what a customer who left was called, sealed
    PRIMARY KEY (webhook_id, number)
) WITH (fillfactor = 70);
CREATE INDEX deliveries_due ON deliveries (webhook_id, replay, next_at, number) WHERE front;
CREATE INDEX deliveries_waiting ON deliveries (webhook_id, customer_id, replay, number) WHERE state = 'waiting';
CREATE INDEX deliveries_state ON deliveries (webhook_id, state, number);
CREATE INDEX deliveries_leased ON deliveries (webhook_id) WHERE owner IS NOT NULL;
CREATE INDEX deliveries_customer ON deliveries (webhook_id, customer_id, number);
CREATE INDEX deliveries_created ON deliveries (created_at);
CREATE INDEX deliveries_subject ON deliveries (created_at) WHERE subject IS NOT NULL;

CREATE TABLE attempts (
    webhook_id uuid NOT NULL,
    number     bigint NOT NULL,
    n          integer NOT NULL,
    at         bigint NOT NULL,
    status     integer NOT NULL,
    fault      text COLLATE "C",
    duration   bigint NOT NULL, -- microseconds
    answer     bytea,           -- sealed, under the customer's key
    PRIMARY KEY (webhook_id, number, n)
);
CREATE INDEX attempts_at ON attempts (at);

-- Stretches of the past that are sent again.
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

-- What the platform has to say to webhooks itself, until it was looked at.
CREATE TABLE notices (
    id    uuid PRIMARY KEY,
    type  text COLLATE "C" NOT NULL,
    about uuid,
    data  text COLLATE "C" NOT NULL,
    at    bigint NOT NULL
);

-- What customers who left were called, sealed, until webhooks were told whom to forget. Written only where there are some.
CREATE TABLE leavers (
    customer_id uuid PRIMARY KEY,
    sealed      bytea NOT NULL,
    at          bigint NOT NULL
);
CREATE INDEX leavers_at ON leavers (at);

-- +goose Down
DROP TABLE leavers, notices, replays, attempts, deliveries, webhook_secrets, webhooks;
