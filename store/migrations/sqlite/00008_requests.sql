-- +goose Up

-- The last requests of all nodes that were answered as errors. Nothing in a row was sent by a caller but the method.
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
CREATE INDEX failed_requests_at ON failed_requests (at, id);

-- What the audit trail is searched by.
CREATE INDEX audit_action ON audit (action, at, id);
CREATE INDEX audit_target ON audit (target, at, id);
CREATE INDEX audit_key ON audit (key_id, at, id);

-- +goose Down
DROP INDEX audit_key;
DROP INDEX audit_target;
DROP INDEX audit_action;
DROP TABLE failed_requests;
