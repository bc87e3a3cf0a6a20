package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// spreadGrace is how long the outcome of a commit is looked for, and spreadAnswer how long an answer may take: a new
// session has to reach the other machines first.
const (
	spreadGrace  = 10 * time.Second
	spreadAnswer = 3 * time.Second
)

func (e *citusEngine) within(ctx context.Context, needs loyalty.Needs, work work) error {
	// A write is ended by a machine that goes away, not by its caller.
	given, done := e.machines.watched(context.WithoutCancel(ctx))
	defer done()
	loads, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(given, func() { cancel(errMachine) })()

	err := oneAway(e.attempt(loads, needs, work, e.load, func(_ context.Context, c *pgxpool.Conn, list []calls, w *loyalty.Writes) error {
		return e.write(given, c, list, w)
	}))
	if given.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, loyalty.ErrDatabaseAway)) {
		err = errMachine
	}
	if errors.Is(err, loyalty.ErrDatabaseAway) {
		e.machines.suspect()
	}

	return err
}

// oneAway turns the coordinator's report that it could not reach another machine into ErrMachineAway.
func oneAway(err error) error {
	var said *pgconn.PgError
	if errors.Is(err, loyalty.ErrDatabaseAway) && errors.As(err, &said) && said.SeverityUnlocalized == "ERROR" &&
		(strings.HasPrefix(said.Code, "08") || strings.HasPrefix(said.Code, "57P")) {
		return fmt.Errorf("%w: %w", loyalty.ErrMachineAway, err)
	}
	return err
}

// write sends everything at once, compares the met rows here, and commits: in two phases if several machines were
// written. A machine may have committed before the coordinator reports that it could not, so an error of COMMIT
// proves nothing: the outcome is looked up as after a lost answer.
func (e *citusEngine) write(ctx context.Context, c *pgxpool.Conn, list []calls, w *loyalty.Writes) error {
	if len(list) == 0 {
		e.rollback(c)
		return nil
	}

	list = findable(list, w)
	begin := ""
	if c.Conn().PgConn().TxStatus() == 'I' {
		begin = "BEGIN"
	}

	if err := spreadSend(ctx, c, begin, list, ""); err != nil {
		e.rollback(c)
		return e.classify(err)
	}

	ctx = context.WithoutCancel(ctx) // a commit that has begun is not abandoned
	err := spreadCommit(ctx, c)
	if err == nil {
		return nil
	}

	pid := session(c.Conn())
	_ = c.Conn().Close(ctx) // this ends its session; what it could commit is visible then
	return e.outcome(pid, w, err, e.askSpread)
}

func spreadCommit(ctx context.Context, c *pgxpool.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, exchange)
	defer cancel()
	_, err := c.Exec(ctx, "COMMIT")
	return err
}

// askSpread is ask for several machines. A row that is found was decided for all machines. Otherwise the session is
// over once its sessions on the other machines have ended; what they prepared is then settled by the coordinator's
// record.
func (e *citusEngine) askSpread(ctx context.Context, pid uint32, w *loyalty.Writes) (written, gone bool, err error) {
	question, args := e.trace(w)
	if question == "" {
		return false, false, errUntraced
	}

	ctx, cancel := context.WithTimeout(ctx, spreadAnswer)
	defer cancel()
	c, err := pgx.ConnectConfig(ctx, e.reads.Config().ConnConfig) // the pools may be full of broken connections
	if err != nil {
		return false, false, err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()

	look := func() error { return c.QueryRow(ctx, question, args...).Scan(&written) }
	if err := look(); err != nil || written {
		return written, false, err
	}

	const ended = `SELECT $1 <> 0 AND NOT EXISTS (SELECT 1 FROM citus_stat_activity WHERE global_pid = citus_calculate_gpid(citus_nodeid_for_gpid(citus_backend_gpid()), $1))`
	if err := c.QueryRow(ctx, ended, int64(pid)).Scan(&gone); err != nil || !gone {
		return false, false, err
	}

	const prepared = `SELECT EXISTS (SELECT 1 FROM pg_dist_transaction WHERE gid LIKE 'citus\_%\_' || $1::text || '\_%')`
	var open bool
	if err := c.QueryRow(ctx, prepared, pid).Scan(&open); err != nil {
		return false, false, err
	}

	if open { // without the right to settle them, this waits until Citus does
		_, _ = c.Exec(ctx, `SELECT recover_prepared_transactions()`)
		return false, false, nil
	}

	err = look()
	return written, err == nil, err
}

// numberingAttempts is how often a transaction of numbers is tried.
const numberingAttempts = 10

// numbering repeats a transaction in which a guard failed. The machines of a commit show it one after the other, the
// coordinator with the head's lock first: the next holder of that lock may still read older rows of the others.
func (e *citusEngine) numbering(ctx context.Context, body func(step) error) error {
	for tries := 1; ; tries++ {
		err := e.steps(ctx, body, func(ctx context.Context, c *pgxpool.Conn, list []calls, before, after string) error {
			return spreadSend(ctx, c, before, list, after)
		})
		if tries == numberingAttempts || !errors.Is(err, loyalty.ErrBatchConflict) {
			return err
		}
	}
}

// dueOnCitus finds candidates without locks, because one statement cannot lock rows of several machines. takeOne
// takes one of them, unless another session has it.
const (
	dueOnCitus = `SELECT b.customer_id FROM balances b WHERE b.due_at <= $1 ORDER BY b.due_at, b.customer_id LIMIT $2 OFFSET $3`
	takeOne    = `SELECT customer_id FROM balances WHERE customer_id = $1 AND due_at <= $2 FOR UPDATE SKIP LOCKED`
)

// takeDue begins a transaction and takes due customers one by one, until there are enough or no more.
func (e *citusEngine) takeDue(ctx context.Context, c *pgxpool.Conn, l *loader) error {
	n := &l.needs
	if _, err := c.Exec(ctx, "BEGIN"); err != nil {
		return err
	}

	step := n.Due + len(n.DueExcept)
	for at := 0; len(l.out.Due) < n.Due; at += step {
		candidates, err := idsOf(ctx, c, dueOnCitus, Millis(n.Now), step, at)
		if err != nil {
			return err
		}

		for _, id := range candidates {
			if len(l.out.Due) == n.Due || slices.Contains(n.DueExcept, loyalty.ID(id)) {
				continue
			}
			taken, err := idsOf(ctx, c, takeOne, id, Millis(n.Now))
			if err != nil {
				return err
			}
			for _, id := range taken {
				l.out.Due = append(l.out.Due, loyalty.ID(id))
			}
		}

		if len(candidates) < step {
			break
		}
	}

	l.taken()
	return nil
}

func idsOf(ctx context.Context, c *pgxpool.Conn, text string, args ...any) ([]UUID, error) {
	rows, err := c.Query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[UUID])
}

// lock takes the locks of everything that the needs name, by ids.
func (e *citusEngine) lock(ctx context.Context, c *pgxpool.Conn, r *resolving, q *loadPlan) error {
	found := &lockable{}
	for _, a := range q.customers[byID] {
		found.customers = append(found.customers, a.id)
	}
	for _, a := range q.coupons {
		if id := r.owners[a.Name]; id != (loyalty.ID{}) {
			found.coupons = append(found.coupons, id)
		}
	}
	return lockFound(ctx, c, found, q)
}
