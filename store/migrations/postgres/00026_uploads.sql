-- +goose Up

-- Imports over HTTP: how their files are read, and where they stand. Their rows are an import of the table imports.
CREATE TABLE uploads (
    id         uuid PRIMARY KEY,
    label      text COLLATE "C" NOT NULL,
    options    text COLLATE "C" NOT NULL, -- how the files are read
    state      text COLLATE "C" NOT NULL,
    plan       text COLLATE "C",          -- of the last check
    account    text COLLATE "C",          -- of the last comparison with the ledger
    fault      text COLLATE "C",          -- why the last of them could not be made
    findings   bigint,                    -- of the last of them
    import_id  uuid,                      -- NULL: it did not begin yet
    key_id     text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);
CREATE INDEX uploads_state ON uploads (state);

-- Their files, in parts, and what was found in them: sealed, and gone seven days after the last change.
CREATE TABLE upload_parts (
    upload_id uuid NOT NULL REFERENCES uploads (id),
    file      text COLLATE "C" NOT NULL, -- its kind, or findings
    part      bigint NOT NULL,
    bytes     bigint NOT NULL,           -- of what is sealed
    sealed    bytea NOT NULL,
    PRIMARY KEY (upload_id, file, part)
);

-- +goose Down
DROP TABLE upload_parts;
DROP TABLE uploads;
