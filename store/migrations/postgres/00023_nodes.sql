-- +goose Up

-- The servers of this database, as each tells twice a minute; one that has been silent for a day is forgotten.
CREATE TABLE nodes (
    id         uuid PRIMARY KEY, -- drawn when it started
    host       text COLLATE "C" NOT NULL,
    version    text COLLATE "C" NOT NULL,
    started_at bigint NOT NULL,
    seen_at    bigint NOT NULL
) WITH (fillfactor = 50);

-- What became of the ledger's verifications: how many invariants held, were broken, could not be checked.
CREATE TABLE ledger_proofs (
    id        uuid PRIMARY KEY,
    at        bigint NOT NULL,
    held      bigint NOT NULL,
    broken    bigint NOT NULL,
    unchecked bigint NOT NULL
);
CREATE INDEX ledger_proofs_at ON ledger_proofs (at);

-- +goose Down
DROP TABLE ledger_proofs;
DROP TABLE nodes;
