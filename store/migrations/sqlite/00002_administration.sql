-- +goose Up

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

CREATE TABLE key_secrets (
    key_id     TEXT NOT NULL REFERENCES access_keys (id),
    id         BLOB NOT NULL,
    sealed     BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (key_id, id)
) STRICT;

CREATE TABLE modules (
    name    TEXT PRIMARY KEY NOT NULL,
    enabled INTEGER NOT NULL,
    config  TEXT
) STRICT;

CREATE TABLE settings (
    id                INTEGER PRIMARY KEY CHECK (id = 1),
    currency          TEXT NOT NULL,
    time_zone         TEXT NOT NULL,
    acceptance_window INTEGER NOT NULL -- milliseconds
) STRICT;

CREATE TABLE audit (
    id      BLOB PRIMARY KEY NOT NULL,
    at      INTEGER NOT NULL,
    key_id  TEXT NOT NULL,
    action  TEXT NOT NULL,
    target  TEXT NOT NULL,
    before  TEXT,
    after   TEXT
) STRICT;
CREATE INDEX audit_at ON audit (at, id);

-- One row. Every administrative change locks it and lets it grow, so that nodes see that their snapshot is old.
CREATE TABLE programme_version (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL
) STRICT;
INSERT INTO programme_version (id, version) VALUES (1, 0);

-- +goose Down
DROP TABLE programme_version;
DROP TABLE audit;
DROP TABLE settings;
DROP TABLE modules;
DROP TABLE key_secrets;
DROP TABLE access_keys;
