-- +goose Up

-- Imports over HTTP: how their files are read, and where they stand. Their rows are an import of the table imports.
CREATE TABLE uploads (
    id         BLOB PRIMARY KEY NOT NULL,
    label      TEXT NOT NULL,
    options    TEXT NOT NULL, -- how the files are read
    state      TEXT NOT NULL,
    plan       TEXT,          -- of the last check
    account    TEXT,          -- of the last comparison with the ledger
    fault      TEXT,          -- why the last of them could not be made
    findings   INTEGER,       -- of the last of them
    import_id  BLOB,          -- NULL: it did not begin yet
    key_id     TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX uploads_state ON uploads (state);

-- Their files, in parts, and what was found in them: sealed, and gone seven days after the last change.
CREATE TABLE upload_parts (
    upload_id BLOB NOT NULL REFERENCES uploads (id),
    file      TEXT NOT NULL,    -- its kind, or findings
    part      INTEGER NOT NULL,
    bytes     INTEGER NOT NULL, -- of what is sealed
    sealed    BLOB NOT NULL,
    PRIMARY KEY (upload_id, file, part)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE upload_parts;
DROP TABLE uploads;
