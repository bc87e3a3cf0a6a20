package store

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// mark is a position of the primary's log at an instant: everything that any node knew to be committed by then is
// before it.
type mark struct {
	at       time.Time // when the primary was asked
	position int64     // in the log, in bytes
	origin   origin
}

// origin identifies a log: positions can be compared within one log only.
type origin struct {
	system int64 // the identity from initdb
	line   int64 // the timeline; a promotion begins a new one
}

// markKept is the interval at which marks are kept for reads that may be older.
const markKept = 100 * time.Millisecond

// primaryLog asks the primary for the position of its log. One query serves all callers that arrived before it was
// sent.
type primaryLog struct {
	config *pgx.ConnConfig
	turn   chan struct{} // held by the caller that asks
	conn   *pgx.Conn     // used by the holder of turn; nil: not open
	open   atomic.Bool   // a connection is open
	last   atomic.Pointer[mark]

	lock  sync.Mutex
	bound time.Duration
	kept  []mark // the oldest first
}

func newPrimaryLog(config *pgx.ConnConfig, bound time.Duration) *primaryLog {
	return &primaryLog{config: config, turn: make(chan struct{}, 1), bound: bound}
}

// Time limits of queries to the primary. Its address may name several servers, the first of which may not answer.
const (
	primaryConnect = 10 * time.Second
	primaryTime    = time.Second
)

var errPrimaryAway = errors.New("the primary is not connected")

// asOf returns a mark that was made at a past instant or later. It does not wait for a connection; the watch of a
// replica opens it.
func (l *primaryLog) asOf(ctx context.Context, at time.Time) (mark, error) {
	if !l.open.Load() {
		return mark{}, errPrimaryAway
	}
	return l.connected(ctx, at)
}

// connected is asOf for a caller that has time to connect.
func (l *primaryLog) connected(ctx context.Context, at time.Time) (mark, error) {
	if m := l.last.Load(); m != nil && !m.at.Before(at) {
		return *m, nil
	}
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return mark{}, ctx.Err()
	}
	if m := l.last.Load(); m != nil && !m.at.Before(at) {
		return *m, nil // the previous holder's query serves this caller as well
	}
	return l.ask(ctx)
}

// selectPosition reads the position of the flushed log: a commit is answered when it is flushed, and only flushed log
// is sent to replicas.
const selectPosition = `SELECT (p.at - '0/0')::bigint, ('x' || substr(pg_walfile_name(p.at), 1, 8))::bit(32)::bigint, c.system_identifier
FROM (SELECT pg_current_wal_flush_lsn() AS at) AS p, pg_control_system() AS c`

// ask queries the primary; the caller must hold turn.
func (l *primaryLog) ask(ctx context.Context) (m mark, err error) {
	if l.conn == nil {
		if err := l.connect(ctx); err != nil {
			return m, err
		}
	}

	ctx, cancel := context.WithTimeout(ctx, primaryTime)
	defer cancel()
	m.at = time.Now()
	if err := l.conn.QueryRow(ctx, selectPosition).Scan(&m.position, &m.origin.line, &m.origin.system); err != nil {
		l.drop()
		return m, err
	}

	l.last.Store(&m)
	l.keep(m)
	return m, nil
}

func (l *primaryLog) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, primaryConnect)
	defer cancel()
	c, err := pgx.ConnectConfig(ctx, l.config.Copy())
	if err == nil {
		l.conn = c
		l.open.Store(true)
	}
	return err
}

func (l *primaryLog) drop() {
	l.open.Store(false)
	if l.conn != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = l.conn.Close(ctx) // it is useless now
		l.conn = nil
	}
}

// close waits for the running query.
func (l *primaryLog) close() {
	l.turn <- struct{}{}
	l.drop()
	<-l.turn
}

func (l *primaryLog) keep(m mark) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if n := len(l.kept); n > 0 && l.kept[n-1].origin != m.origin {
		l.kept = nil // another server is the primary
	} else if n > 0 && m.at.Sub(l.kept[n-1].at) < markKept {
		return
	}
	l.kept = append(l.forget(m.at), m)
}

// forget returns the marks that are not too old at an instant.
func (l *primaryLog) forget(now time.Time) []mark {
	first := slices.IndexFunc(l.kept, func(m mark) bool { return now.Sub(m.at) <= l.bound })
	if first < 0 {
		return l.kept[:0]
	}
	return slices.Delete(l.kept, 0, first)
}

// oldest returns the oldest mark within the bound; false if there is none, because the primary did not answer for
// that long.
func (l *primaryLog) oldest(now time.Time) (mark, bool) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.kept = l.forget(now); len(l.kept) == 0 {
		return mark{}, false
	}
	return l.kept[0], true
}

// reached returns when a position was the newest: the instant of the latest mark that is not beyond it; false if it
// is older than all stored marks.
func (l *primaryLog) reached(p mark) (time.Time, bool) {
	l.lock.Lock()
	defer l.lock.Unlock()
	for _, m := range slices.Backward(l.kept) {
		if m.origin == p.origin && m.position <= p.position {
			return m.at, true
		}
	}
	return time.Time{}, false
}
