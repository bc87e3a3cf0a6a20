-- +goose Up

-- Who signs in to the console. A password is an Argon2id string, a second factor is sealed under the master key.
CREATE TABLE users (
    id           uuid PRIMARY KEY,
    login        text COLLATE "C" NOT NULL UNIQUE,
    name         text COLLATE "C" NOT NULL,
    email        text COLLATE "C" NOT NULL,
    role         text COLLATE "C" NOT NULL,
    personal     boolean NOT NULL,
    language     text COLLATE "C" NOT NULL,
    password     text COLLATE "C",
    totp_sealed  bytea,
    totp_step    bigint NOT NULL, -- the last one whose code was taken
    recovery     text COLLATE "C", -- hashes of codes that are left
    issuer       text COLLATE "C",
    subject      text COLLATE "C",
    created_at   bigint NOT NULL,
    updated_at   bigint NOT NULL,
    disabled_at  bigint,
    failures     integer NOT NULL,
    locked_until bigint,
    UNIQUE (issuer, subject)
);

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
CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_over ON sessions (expires_at);

CREATE TABLE invitations (
    token_hash bytea PRIMARY KEY,
    user_id    uuid NOT NULL REFERENCES users (id),
    expires_at bigint NOT NULL,
    used_at    bigint
);
CREATE INDEX invitations_user ON invitations (user_id);
CREATE INDEX invitations_over ON invitations (expires_at);

-- A change is made by a key, a user or the program's own commands.
ALTER TABLE audit RENAME COLUMN key_id TO actor;
ALTER TABLE audit ADD COLUMN actor_kind text COLLATE "C" NOT NULL DEFAULT 'key';
ALTER TABLE audit DISABLE TRIGGER audit_stay;
UPDATE audit SET actor_kind = 'system' WHERE actor = 'command line';
ALTER TABLE audit ENABLE TRIGGER audit_stay;

-- +goose Down
ALTER TABLE audit DROP COLUMN actor_kind;
ALTER TABLE audit RENAME COLUMN actor TO key_id;
DROP TABLE invitations, sessions, users;
