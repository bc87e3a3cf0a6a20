-- +goose Up

-- Who signs in to the console. A password is an Argon2id string, a second factor is sealed under the master key.
CREATE TABLE users (
    id           BLOB PRIMARY KEY NOT NULL,
    login        TEXT NOT NULL UNIQUE,
    name         TEXT NOT NULL,
    email        TEXT NOT NULL,
    role         TEXT NOT NULL,
    personal     INTEGER NOT NULL,
    language     TEXT NOT NULL,
    password     TEXT,
    totp_sealed  BLOB,
    totp_step    INTEGER NOT NULL, -- the last one whose code was taken
    recovery     TEXT,             -- hashes of codes that are left
    issuer       TEXT,
    subject      TEXT,
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    disabled_at  INTEGER,
    failures     INTEGER NOT NULL,
    locked_until INTEGER,
    UNIQUE (issuer, subject)
) STRICT;

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
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_over ON sessions (expires_at);

CREATE TABLE invitations (
    token_hash BLOB PRIMARY KEY NOT NULL,
    user_id    BLOB NOT NULL REFERENCES users (id),
    expires_at INTEGER NOT NULL,
    used_at    INTEGER
) STRICT;
CREATE INDEX invitations_user ON invitations (user_id);
CREATE INDEX invitations_over ON invitations (expires_at);

-- A change is made by a key, a user or the program's own commands.
DROP TRIGGER audit_update;
ALTER TABLE audit RENAME COLUMN key_id TO actor;
ALTER TABLE audit ADD COLUMN actor_kind TEXT NOT NULL DEFAULT 'key';
UPDATE audit SET actor_kind = 'system' WHERE actor = 'command line';
-- +goose StatementBegin
CREATE TRIGGER audit_update BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only: UPDATE of audit is refused');
END;
-- +goose StatementEnd

-- +goose Down
ALTER TABLE audit DROP COLUMN actor_kind;
ALTER TABLE audit RENAME COLUMN actor TO key_id;
DROP TABLE invitations;
DROP TABLE sessions;
DROP TABLE users;
