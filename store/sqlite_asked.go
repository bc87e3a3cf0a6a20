package store

import (
	"context"
	"database/sql"
)

// asker is a connection, or its open transaction.
type asker interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// asked runs the questions one after the other. A single statement has a snapshot of its own.
func (e *sqliteEngine) asked(ctx context.Context, first []question, then func() ([]question, error)) error {
	if then == nil && len(first) == 1 {
		return first[0].run(ctx, e.readers)
	}

	tx, err := e.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // it has written nothing

	if err := runAll(ctx, tx, first); err != nil || then == nil {
		return err
	}

	list, err := then()
	if err != nil {
		return err
	}

	return runAll(ctx, tx, list)
}

func (*sqliteEngine) patience() []question { return nil }

func runAll(ctx context.Context, on asker, list []question) error {
	for _, q := range list {
		if err := q.run(ctx, on); err != nil {
			return err
		}
	}
	return nil
}

func (q *question) run(ctx context.Context, on asker) error {
	text, args := q.forSQLite()
	rows, err := on.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error

	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	if err := q.read(columns, rows); err != nil {
		return err
	}

	return rows.Err()
}
