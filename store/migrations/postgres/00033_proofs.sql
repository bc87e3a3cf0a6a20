-- +goose Up

-- Who had the ledger proved, and which invariants did not hold or could not be checked. A proof of before has neither.
ALTER TABLE ledger_proofs ADD COLUMN actor text COLLATE "C";
ALTER TABLE ledger_proofs ADD COLUMN actor_kind text COLLATE "C";
ALTER TABLE ledger_proofs ADD COLUMN broken_ids text COLLATE "C"; -- a JSON array; NULL: none
ALTER TABLE ledger_proofs ADD COLUMN unchecked_ids text COLLATE "C";

DROP INDEX ledger_proofs_at;
CREATE INDEX ledger_proofs_at ON ledger_proofs (at, id);

-- +goose Down
DROP INDEX ledger_proofs_at;
CREATE INDEX ledger_proofs_at ON ledger_proofs (at);
ALTER TABLE ledger_proofs DROP COLUMN unchecked_ids;
ALTER TABLE ledger_proofs DROP COLUMN broken_ids;
ALTER TABLE ledger_proofs DROP COLUMN actor_kind;
ALTER TABLE ledger_proofs DROP COLUMN actor;
