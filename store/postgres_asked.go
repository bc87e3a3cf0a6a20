package store

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// snapshotBegin begins a transaction on one snapshot.
const snapshotBegin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

// asked takes one round trip, or two if there is a follow-up: BEGIN and COMMIT travel with the questions. A single
// statement has a snapshot of its own.
func (e *postgresEngine) asked(ctx context.Context, first []question, then func() ([]question, error)) error {
	c, err := e.reads.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release() // this closes a connection that is inside a transaction

	if then == nil && len(first) == 1 {
		return exchangeQuestions(ctx, c, first, "", "")
	}
	if then == nil {
		return exchangeQuestions(ctx, c, first, snapshotBegin, "COMMIT")
	}
	if err := exchangeQuestions(ctx, c, first, snapshotBegin, ""); err != nil {
		return err
	}

	list, err := then()
	if err != nil {
		e.rollback(c)
		return err
	}

	return exchangeQuestions(ctx, c, list, "", "COMMIT")
}

// exchangeQuestions sends the questions in one round trip, between two other commands if given.
func exchangeQuestions(ctx context.Context, c *pgxpool.Conn, list []question, before, after string) error {
	b := &pgx.Batch{QueuedQueries: make([]*pgx.QueuedQuery, 0, len(list)+2)}
	if before != "" {
		b.Queue(before)
	}
	for _, q := range list {
		text, args := q.forPostgres()
		b.Queue(text, args...).Query(q.answer)
	}
	if after != "" {
		b.Queue(after)
	}
	return c.SendBatch(ctx, b).Close()
}

func (e *postgresEngine) patience() []question {
	return []question{sqlFragment{text: "SET LOCAL statement_timeout = 0"}.one()}
}

// answer reads the rows of an answer.
func (q *question) answer(rows pgx.Rows) error {
	defer rows.Close()                 // this skips the rows that are not needed
	if err := rows.Err(); err != nil { // no answer: timeout, or the database is away
		return err
	}
	fields := rows.FieldDescriptions()
	columns := make([]string, len(fields))
	for i, f := range fields {
		columns[i] = f.Name
	}
	return q.read(columns, rows)
}
