-- +goose Up

-- The servers of this database, as each tells twice a minute; one that has been silent for a day is forgotten.
CREATE TABLE nodes (
    id         BLOB PRIMARY KEY NOT NULL, -- drawn when it started
    host       TEXT NOT NULL,
    version    TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL
) STRICT;

-- What became of the ledger's verifications: how many invariants held, were broken, could not be checked.
CREATE TABLE ledger_proofs (
    id        BLOB PRIMARY KEY NOT NULL,
    at        INTEGER NOT NULL,
    held      INTEGER NOT NULL,
    broken    INTEGER NOT NULL,
    unchecked INTEGER NOT NULL
) STRICT;
CREATE INDEX ledger_proofs_at ON ledger_proofs (at);

-- +goose Down
DROP TABLE ledger_proofs;
DROP TABLE nodes;
