package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// The states of a replica.
const (
	replicaUnknown  = "unknown"  // not asked yet
	replicaReady    = "ready"    // as far as the primary
	replicaBehind   = "behind"   // serves reads that may be older, unless it is too far behind
	replicaAway     = "away"     // does not answer
	replicaPromoted = "promoted" // a primary itself, whose data differ from what this programme writes
	replicaForeign  = "foreign"  // follows another log than the primary's
)

const (
	replicaEvery = 250 * time.Millisecond // how often a replica's state is checked
	replicaTime  = time.Second            // a slower answer counts as away
	// catchUp is how long a read waits for a replica to reach the primary's position at the read's arrival. A replica
	// that needed longer when it was last checked is not waited for.
	catchUp = 20 * time.Millisecond
	// replicaPause is the pause between two checks.
	replicaPause = time.Millisecond
)

var (
	errReplicaBehind   = errors.New("the replica is behind")
	errReplicaPromoted = errors.New("the replica was promoted")
	errReplicaForeign  = errors.New("the replica does not follow this primary's log")
)

// replica is one standby.
type replica struct {
	store *Store
	conn  *pgx.ConnConfig
	state atomic.Pointer[string]
	lag   atomic.Int64 // nanoseconds; -1: unknown
	reads atomic.Int64 // reads that it answered
	lost  atomic.Int64 // reads that it failed and that the primary answered

	lock  sync.Mutex
	alive context.Context // ends when the replica is found to be away
	end   context.CancelCauseFunc
}

// demand is what a read needs of its connection.
type demand struct {
	mark
	patience time.Duration
}

type demandKey struct{}

// openReplica creates the pools of a replica. It connects later, so that a replica that is away costs nothing.
func openReplica(ctx context.Context, db *database, address string, o Options) (*replica, error) {
	config, err := poolConfig(address)
	if err != nil {
		return nil, err
	}

	config.ConnConfig.ConnectTimeout = min(config.ConnConfig.ConnectTimeout, replicaTime)
	config.AfterConnect = noteOrigin
	config.PrepareConn = prepareReplica
	d := &database{own: own{news: make(chan struct{}, 1)}, sealer: db.sealer, now: db.now}
	g := gormConfig()
	g.DisableAutomaticPing = true
	if err := connectPostgres(ctx, d, config, o, g); err != nil {
		return nil, err
	}

	r := &replica{store: newStore(d), conn: config.ConnConfig}
	r.is(replicaUnknown, -1)
	r.alive, r.end = context.WithCancelCause(context.Background())
	return r, nil
}

// prepareReplica checks each connection before a read gets it: either the server has reached what the read needs, or
// the read goes to the primary.
func prepareReplica(ctx context.Context, c *pgx.Conn) (bool, error) {
	need, is := ctx.Value(demandKey{}).(demand)
	if !is {
		return true, nil
	}

	for until := time.Now().Add(need.patience); ; time.Sleep(replicaPause) {
		at, err := replayed(ctx, c, need.origin)
		switch {
		case errors.Is(err, errReplicaPromoted), errors.Is(err, errReplicaForeign):
			return true, err
		case err != nil:
			return false, err
		case at >= need.position:
			return true, nil
		case !time.Now().Before(until):
			return true, errReplicaBehind
		}
	}
}

const originKey = "origin"

// noteOrigin notes the identity of a server's log. It takes the timeline from the control file, which learns of a new
// one some time after the server follows it (at a restart point); until then the replica is not used.
func noteOrigin(ctx context.Context, c *pgx.Conn) error {
	var o origin
	err := c.QueryRow(ctx, `SELECT s.system_identifier, greatest(c.timeline_id, r.min_recovery_end_timeline)
FROM pg_control_system() AS s, pg_control_checkpoint() AS c, pg_control_recovery() AS r`).Scan(&o.system, &o.line)
	c.PgConn().CustomData()[originKey] = o
	return err
}

// replayed is the position of a standby in a log.
func replayed(ctx context.Context, c *pgx.Conn, of origin) (at int64, err error) {
	var standby bool
	if err := c.QueryRow(ctx, `SELECT pg_is_in_recovery(), coalesce((pg_last_wal_replay_lsn() - '0/0')::bigint, 0)`).Scan(&standby, &at); err != nil {
		return 0, err
	}
	if !standby {
		return 0, errReplicaPromoted
	}
	if c.PgConn().CustomData()[originKey] == of {
		return at, nil
	}
	if err := noteOrigin(ctx, c); err != nil {
		return 0, err
	}
	if c.PgConn().CustomData()[originKey] != of {
		return 0, errReplicaForeign
	}

	return at, nil
}

// is sets the state of the replica.
func (r *replica) is(state string, lag time.Duration) {
	r.state.Store(&state)
	r.lag.Store(int64(lag))
}

// watch checks the state of the replica again and again, until ctx ends.
func (r *replica) watch(ctx context.Context, l *primaryLog, report func(state string, err error)) {
	var c *pgx.Conn
	shut := func() {
		if c != nil {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), replicaTime)
			defer cancel()
			_ = c.Close(ctx) // it only ran queries
			c = nil
		}
	}
	defer shut()

	tick := time.NewTicker(replicaEvery)
	defer tick.Stop()
	for told := replicaUnknown; ; {
		err := r.look(ctx, &c, l)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			shut()
		}

		if now := *r.state.Load(); now != told {
			told = now
			report(now, err)
		}

		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// look checks once. While the primary does not answer, the distance of the replica is unknown, but look still notices
// a replica that is away.
func (r *replica) look(ctx context.Context, c **pgx.Conn, l *primaryLog) (err error) {
	began := time.Now()
	m, away := l.connected(ctx, began)
	if away != nil {
		last := l.last.Load()
		if last == nil {
			return nil
		}
		m = *last
	}

	ctx, cancel := context.WithTimeout(ctx, replicaTime)
	defer cancel()
	if *c == nil {
		if *c, err = pgx.ConnectConfig(ctx, r.conn.Copy()); err != nil {
			*c = nil
			return r.gone(replicaAway, err)
		}
	}

	at := int64(0)
	for until := time.Now().Add(catchUp); ; time.Sleep(replicaPause) {
		if at, err = replayed(ctx, *c, m.origin); err != nil || at >= m.position || !time.Now().Before(until) {
			break
		}
	}

	switch {
	case errors.Is(err, errReplicaPromoted):
		return r.gone(replicaPromoted, err)
	case errors.Is(err, errReplicaForeign):
		return r.gone(replicaForeign, err)
	case err != nil:
		return r.gone(replicaAway, err)
	}

	r.back()
	if at >= m.position && away == nil {
		r.is(replicaReady, time.Since(m.at))
		return nil
	}

	lag := time.Duration(-1)
	if reached, known := l.reached(mark{position: at, origin: m.origin}); known {
		lag = began.Sub(reached)
	}

	r.is(replicaBehind, lag)
	return nil
}

// gone ends the running reads of the replica; the primary answers them.
func (r *replica) gone(state string, err error) error {
	r.is(state, -1)
	r.lock.Lock()
	defer r.lock.Unlock()
	r.end(err)
	return err
}

// back allows reads again.
func (r *replica) back() {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.alive.Err() != nil {
		r.alive, r.end = context.WithCancelCause(context.Background())
	}
}

// serves reports whether the replica may be asked: it answers, is near enough, and has a free connection, so that no
// read waits for one while the primary may have some.
func (r *replica) serves(how freshness, bound time.Duration) bool {
	switch state, lag := *r.state.Load(), time.Duration(r.lag.Load()); {
	case state == replicaReady:
	case state != replicaBehind, how == current, lag < 0, lag > bound:
		return false
	}
	for _, p := range r.store.pools() {
		if p.Used >= p.Most {
			return false
		}
	}
	return true
}

// reading is a context for reads from the replica, with what they need of it.
func (r *replica) reading(ctx context.Context, need demand, limit time.Duration) (context.Context, func()) {
	r.lock.Lock()
	alive := r.alive
	r.lock.Unlock()
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, demandKey{}, need), limit)
	stop := context.AfterFunc(alive, cancel)
	return ctx, func() { stop(); cancel() }
}

// final reports whether a replica's result stands: what was read, or what the rules decided on it. For anything else
// the primary is asked.
func (r *replica) final(ctx, asking context.Context, err error) bool {
	if err == nil {
		r.reads.Add(1)
		return true
	}

	if ctx.Err() != nil {
		return true // the caller is gone
	}

	var said *loyalty.Error
	if errors.As(err, &said) && said.Kind != loyalty.Internal && said.Kind != loyalty.Unavailable {
		r.reads.Add(1)
		return true
	}

	r.lost.Add(1)
	var told *pgconn.PgError
	switch heard := errors.As(err, &told); {
	case errors.Is(err, errReplicaPromoted):
		_ = r.gone(replicaPromoted, err)
	case asking.Err() == nil && !heard && errors.Is(err, loyalty.ErrDatabaseAway):
		_ = r.gone(replicaAway, fmt.Errorf("a read: %w", err)) // until the next check
	}

	return false
}
