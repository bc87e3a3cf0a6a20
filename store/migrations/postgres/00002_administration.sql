-- +goose Up

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

CREATE TABLE key_secrets (
    key_id     text COLLATE "C" NOT NULL REFERENCES access_keys (id),
    id         uuid NOT NULL,
    sealed     bytea NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    PRIMARY KEY (key_id, id)
);

CREATE TABLE modules (
    name    text COLLATE "C" PRIMARY KEY,
    enabled boolean NOT NULL,
    config  text COLLATE "C"
);

CREATE TABLE settings (
    id                integer PRIMARY KEY CHECK (id = 1),
    currency          text COLLATE "C" NOT NULL,
    time_zone         text COLLATE "C" NOT NULL,
    acceptance_window bigint NOT NULL -- milliseconds
);

CREATE TABLE audit (
    id      uuid PRIMARY KEY,
    at      bigint NOT NULL,
    key_id  text COLLATE "C" NOT NULL,
    action  text COLLATE "C" NOT NULL,
    target  text COLLATE "C" NOT NULL,
    before  text COLLATE "C",
    after   text COLLATE "C"
);
CREATE INDEX audit_at ON audit (at, id);

-- One row. Every administrative change locks it and lets it grow, so that nodes see that their snapshot is old.
CREATE TABLE programme_version (
    id      integer PRIMARY KEY CHECK (id = 1),
    version bigint NOT NULL
);
INSERT INTO programme_version (id, version) VALUES (1, 0);

-- +goose Down
DROP TABLE programme_version, audit, settings, modules, key_secrets, access_keys;
