package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// exchange limits one round trip, so that no caller waits for a network that swallows packets.
const exchange = 10 * time.Second

// within takes two round trips: one batch of reads, one batch of writes whose last message is the commit. The locked
// form needs a third, for the locks.
func (e *postgresEngine) within(ctx context.Context, needs loyalty.Needs, work work) error {
	return e.attempt(ctx, needs, work, e.load, e.write)
}

// attempt is within with a given way to load and to write.
func (e *postgresEngine) attempt(ctx context.Context, needs loyalty.Needs, work work,
	load func(context.Context, *pgxpool.Conn, *loader) error, write func(context.Context, *pgxpool.Conn, []calls, *loyalty.Writes) error,
) error {
	c, err := e.batches.Acquire(ctx)
	if err != nil {
		return e.classify(err)
	}
	defer c.Release() // this closes a connection that is inside a transaction

	l := newLoader(needs, e.sealer)
	if err := load(ctx, c, l); err != nil {
		return e.classify(err)
	}

	w, err := work(l.out)
	if err == nil {
		err = ctx.Err()
	}

	if err != nil {
		e.rollback(c)
		return err
	}

	list, err := writeCalls(w, e.sealer)
	if err != nil {
		e.rollback(c)
		return err
	}

	return write(context.WithoutCancel(ctx), c, list, w)
}

// load reads what is needed. Several reads share one snapshot, so that even a refusal, which no guard checks, is
// based on figures and lots of one instant.
func (e *postgresEngine) load(ctx context.Context, c *pgxpool.Conn, l *loader) error {
	exchange := snapshot
	switch {
	case l.needs.Due > 0:
		exchange = inside
		if err := e.takeDue(ctx, c, l); err != nil {
			return err
		}
	case l.needs.Locked:
		exchange = inside
		if err := e.lock(ctx, c, l); err != nil {
			return err
		}
	}

	if err := exchange(ctx, c, l.calls()); err != nil {
		return err
	}

	l.share()
	return exchange(ctx, c, l.due())
}

// inside reads in the open transaction.
func inside(ctx context.Context, c *pgxpool.Conn, list []calls) error {
	return send(ctx, c, list, "", "")
}

func snapshot(ctx context.Context, c *pgxpool.Conn, list []calls) error {
	if len(list) == 1 {
		return send(ctx, c, list, "", "")
	}
	return send(ctx, c, list, snapshotBegin, "COMMIT")
}

// send sends the calls in one round trip, between two other commands if given. Without BEGIN, PostgreSQL treats what
// is sent at once as one transaction.
func send(ctx context.Context, c *pgxpool.Conn, list []calls, before, after string) error {
	if len(list) == 0 {
		return nil
	}
	return exchangeBatch(ctx, c, queued(list, before, after, calls.queue))
}

// queued is the content of one round trip; queue adds each call to it.
func queued(list []calls, before, after string, queue func(calls, *pgx.Batch)) *pgx.Batch {
	b := &pgx.Batch{QueuedQueries: make([]*pgx.QueuedQuery, 0, len(list)+2)}
	if before != "" {
		b.Queue(before)
	}
	for _, call := range list {
		queue(call, b)
	}
	if after != "" {
		b.Queue(after)
	}
	return b
}

func exchangeBatch(ctx context.Context, c *pgxpool.Conn, b *pgx.Batch) error {
	ctx, cancel := context.WithTimeout(ctx, exchange)
	defer cancel()
	return c.SendBatch(ctx, b).Close()
}

// numbering uses a connection of the batches, because its statements find rows by keys, as batches do.
func (e *postgresEngine) numbering(ctx context.Context, body func(step) error) error {
	return e.steps(ctx, body, send)
}

// steps runs one transaction whose steps each see what others committed before.
func (e *postgresEngine) steps(ctx context.Context, body func(step) error,
	send func(ctx context.Context, c *pgxpool.Conn, list []calls, before, after string) error,
) error {
	c, err := e.batches.Acquire(ctx)
	if err != nil {
		return e.classify(err)
	}
	defer c.Release() // this closes a connection that is inside a transaction

	begin := "BEGIN ISOLATION LEVEL READ COMMITTED"
	err = body(func(list []calls) error {
		before := begin
		begin = ""
		return send(ctx, c, list, before, "")
	})
	if err == nil {
		_, err = c.Exec(ctx, "COMMIT")
	}
	if err != nil {
		e.rollback(c)
	}

	return e.classify(err)
}

// rollback ends the transaction of a locked load, if there is one.
func (e *postgresEngine) rollback(c *pgxpool.Conn) {
	if c.Conn().PgConn().TxStatus() == 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), exchange)
	defer cancel()
	_, _ = c.Exec(ctx, "ROLLBACK") // if it fails, Release closes the connection
}

// write sends everything at once. A batch that the server refuses was not written; if the network loses the answer,
// the outcome is looked up.
func (e *postgresEngine) write(ctx context.Context, c *pgxpool.Conn, list []calls, w *loyalty.Writes) error {
	if len(list) == 0 {
		e.rollback(c)
		return nil
	}

	done, err := commit(ctx, c, list)
	if err == nil {
		return nil
	}

	var said *pgconn.PgError
	heard := errors.As(err, &said) && (said.SeverityUnlocalized == "ERROR" || done < len(list))
	if heard || !c.Conn().IsClosed() { // refused, ended before its last statement, or never sent
		e.rollback(c)
		return e.classify(err)
	}

	return e.outcome(session(c.Conn()), w, err, e.ask)
}

// commit sends the calls as one transaction and counts the answers: while one is missing, the commit has not begun.
func commit(ctx context.Context, c *pgxpool.Conn, list []calls) (done int, err error) {
	b := &pgx.Batch{QueuedQueries: make([]*pgx.QueuedQuery, 0, len(list)+1)}
	answered := func(r pgx.BatchResults) error {
		_, err := r.Exec()
		if err == nil {
			done++
		}
		return err
	}

	for _, call := range list {
		call.queue(b)
		b.QueuedQueries[len(b.QueuedQueries)-1].Fn = answered
	}

	if c.Conn().PgConn().TxStatus() != 'I' {
		b.Queue("COMMIT")
	}

	err = exchangeBatch(ctx, c, b)
	return done, err
}

// direct marks a connection to the server itself, whose reported session is the server's own. A pooler reports an
// invented session, and may give the server's session to other clients afterwards.
const direct = "direct"

func noteSession(ctx context.Context, c *pgx.Conn) error {
	var pid int64
	err := c.QueryRow(ctx, `SELECT pg_backend_pid()`, pgx.QueryExecModeExec).Scan(&pid) // not prepared: see checkPooler
	c.PgConn().CustomData()[direct] = pid == int64(c.PgConn().PID())
	return err
}

// session returns the server's session of a connection; 0 behind a pooler.
func session(c *pgx.Conn) uint32 {
	if known, _ := c.PgConn().CustomData()[direct].(bool); known {
		return c.PgConn().PID()
	}
	return 0
}

// outcome finds out on a new connection whether a commit whose answer was lost took place. While the old session
// lives it may still commit, so outcome waits for its end. Behind a pooler that end cannot be seen, so only a batch
// that is found is certain.
func (e *postgresEngine) outcome(pid uint32, w *loyalty.Writes, broken error,
	ask func(ctx context.Context, pid uint32, w *loyalty.Writes) (written, gone bool, err error),
) error {
	ctx, cancel := context.WithTimeout(context.Background(), e.grace)
	defer cancel()

	for {
		written, gone, err := ask(ctx, pid, w)
		switch {
		case err == nil && written:
			return nil
		case err == nil && gone:
			return fmt.Errorf("%w: %w", loyalty.ErrDatabaseAway, broken)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", loyalty.ErrOutcomeUnknown, errors.Join(broken, err))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// ask looks for the batch, and whether its session has ended. It checks the session first: if that was gone by then,
// a batch that is not found will never be written.
func (e *postgresEngine) ask(ctx context.Context, pid uint32, w *loyalty.Writes) (written, gone bool, err error) {
	question, args := e.trace(w)
	if question == "" {
		return false, false, errUntraced
	}

	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	c, err := pgx.ConnectConfig(ctx, e.reads.Config().ConnConfig) // the pools may be full of broken connections
	if err != nil {
		return false, false, err
	}
	defer func() { _ = c.Close(ctx) }()

	err = c.QueryRow(ctx, `SELECT $1 <> 0 AND NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE pid = $1)`, int64(pid)).Scan(&gone)
	if err != nil {
		return false, false, err
	}

	err = c.QueryRow(ctx, question, args...).Scan(&written)
	return written, gone, err
}

var errUntraced = errors.New("the batch left nothing to look for")

// trace is the query that reports whether a batch was written. A batch is written whole or not at all, so one row is
// enough.
func (e *postgresEngine) trace(w *loyalty.Writes) (question string, args []any) {
	if len(w.Events) > 0 {
		first := &w.Events[0]
		return `SELECT EXISTS (SELECT 1 FROM events WHERE customer_id = $1 AND id = $2 AND recorded_at = $3)`,
			[]any{(*UUID)(&first.Customer), (*UUID)(&first.ID), (*Millis)(&first.RecordedAt)}
	}
	if len(w.Answers) > 0 {
		a := &w.Answers[0]
		return `SELECT EXISTS (SELECT 1 FROM answers WHERE access_key = $1 AND key = $2 AND hash = $3 AND at = $4)`,
			[]any{a.AccessKey, e.sealer.answerName(a.AnswerKey), a.Hash[:], (*Millis)(&a.At)}
	}
	return "", nil
}
