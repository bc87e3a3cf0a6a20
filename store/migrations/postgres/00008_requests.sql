-- +goose Up

-- The last requests of all nodes that were answered as errors. Nothing in a row was sent by a caller but the method.
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
CREATE INDEX failed_requests_at ON failed_requests (at, id);

-- What the audit trail is searched by.
CREATE INDEX audit_action ON audit (action, at, id);
CREATE INDEX audit_target ON audit (target, at, id);
CREATE INDEX audit_key ON audit (key_id, at, id);

-- +goose Down
DROP INDEX audit_key, audit_target, audit_action;
DROP TABLE failed_requests;
