// Package leaderboard ranks customers. Boards are counted by readers and a job, never by an event.
package leaderboard

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/tail"
)

// Leaderboard ranks active customers by score. Its boards are counted from the journal, so they cost the events
// nothing: a job counts, and so does every read, so that a reader finds everything that was committed before.
// Leaderboard follows the tail. The position up to which it has counted is written together with the scores, so that
// nothing counts twice even if several nodes count at once.
type Leaderboard struct {
	store      loyalty.BoardStore
	programmes engine.Programmes
	now        func() time.Time
	patience   time.Duration

	lock   sync.Mutex
	next   *boardTurn // for callers that came after the running turn began; nil: there are none
	active bool
	tail   *tail.Tail // used by one turn at a time
}

// LeaderboardOptions configures a leaderboard.
type LeaderboardOptions struct {
	Store      loyalty.BoardStore
	Programmes engine.Programmes
	// Clock is the engine's; nil: the system's.
	Clock func() time.Time
	// Patience is how long a reader counts. If more is left then, the job counts it, and the reader gets the last whole
	// boards. 0: a second; negative: readers do not count.
	Patience time.Duration
}

// NewLeaderboard makes a leaderboard. It starts nothing.
func NewLeaderboard(o LeaderboardOptions) *Leaderboard {
	l := &Leaderboard{store: o.Store, programmes: o.Programmes, now: o.Clock, patience: cmp.Or(o.Patience, time.Second)}
	if l.now == nil {
		l.now = time.Now
	}
	l.tail = tail.New(l.store, l.now)
	return l
}

// BoardPart is what a reader of a board sees.
type BoardPart struct {
	loyalty.Board
	From, Until time.Time // the board's first instant, and that of the next board; zero for BoardAll
	// AsOf is the instant up to which the board counts if newer events could not be counted; zero: it has everything
	// that was committed before the request.
	AsOf    time.Time
	Entries []loyalty.BoardEntry
}

// BoardStanding is the standing of one customer. Its entries are the customer's own and its neighbours, the highest
// score first; none if the customer is not ranked.
type BoardStanding struct {
	BoardPart
	Rank  int64 // 0: not ranked
	Score int64 // of the period, even if not ranked
}

// Page returns a part of the current board of q.Period, or with previous of the one before it. With a position it
// returns a part of the board q.Board, where the walk began. It fails with ErrBoardsUnbuilt.
func (l *Leaderboard) Page(ctx context.Context, q loyalty.BoardQuery, previous bool) (BoardPart, error) {
	v, err := l.fresh(ctx, q.Period)
	if err != nil {
		return BoardPart{}, err
	}

	if q.After == nil && q.Before == nil {
		var exists bool
		if q.Board, exists = q.Period.At(l.now(), v.location, previous); !exists {
			return BoardPart{Board: q.Board}, nil
		}
	}

	q.Side = v.side
	part := BoardPart{Board: q.Board, AsOf: v.asOf}
	part.From, part.Until = q.Bounds(v.location)
	part.Entries, err = l.store.BoardPage(ctx, q)
	return part, err
}

// Scores counts the customers of a board by bands of their scores, most bands at most.
func (l *Leaderboard) Scores(
	ctx context.Context, p loyalty.BoardPeriod, previous bool, most int,
) (BoardPart, []loyalty.ScoreBand, error) {
	v, err := l.fresh(ctx, p)
	if err != nil {
		return BoardPart{}, nil, err
	}

	b, exists := p.At(l.now(), v.location, previous)
	b.Side = v.side
	part := BoardPart{Board: b, AsOf: v.asOf}
	if !exists {
		return part, nil, nil
	}

	part.From, part.Until = b.Bounds(v.location)
	bands, err := l.store.BoardScores(ctx, b, most)
	return part, bands, err
}

// Around returns a customer's standing on the current board of a period, or with previous on the one before it. It
// fails with ErrBoardsUnbuilt.
func (l *Leaderboard) Around(
	ctx context.Context, q loyalty.BoardQuery, customer loyalty.ID, previous bool,
) (BoardStanding, error) {
	v, err := l.fresh(ctx, q.Period)
	if err != nil {
		return BoardStanding{}, err
	}

	b, exists := q.Period.At(l.now(), v.location, previous)
	if !exists {
		return BoardStanding{}, nil
	}

	b.Side = v.side
	s := BoardStanding{BoardPart: BoardPart{Board: b, AsOf: v.asOf}}
	s.From, s.Until = b.Bounds(v.location)
	if s.Entries, s.Score, err = l.store.BoardAround(ctx, b, customer, q.Limit); err != nil {
		return s, err
	}

	for i := range s.Entries {
		if s.Entries[i].Customer == customer {
			s.Rank = s.Entries[i].Rank
		}
	}

	return s, nil
}

// view is what a reader can be shown.
type view struct {
	location *time.Location // whose days the boards have
	side     int16
	asOf     time.Time // instant up to which they count; zero: they have everything that was committed before
}

// fresh counts what was committed until now and returns what can be shown. If not everything could be counted, because
// the database is read-only, other nodes count or time ran out, it returns the last whole boards. It fails with
// ErrBoardsUnbuilt if there are none yet.
func (l *Leaderboard) fresh(ctx context.Context, p loyalty.BoardPeriod) (view, error) {
	t := l.join()
	select {
	case <-ctx.Done():
		return view{}, loyalty.ErrUnavailable.Because(ctx.Err())
	case <-t.done:
	}
	switch {
	case t.err != nil:
		return l.last(ctx, p, loyalty.OutcomeError(t.err))
	case !t.whole:
		return l.last(ctx, p, loyalty.ErrBoardsUnbuilt)
	}
	return viewOf(t.state, p, t.location), nil
}

// last is fresh if not everything could be counted: the last whole boards, or the cause if there are none yet.
func (l *Leaderboard) last(ctx context.Context, p loyalty.BoardPeriod, cause error) (view, error) {
	state, err := l.store.BoardState(ctx)
	if err != nil || state.Built == 0 {
		return view{}, cause
	}

	zone := state.Zone
	if !state.Whole() && p != loyalty.BoardAll {
		zone = state.WholeZone
	}

	location, err := time.LoadLocation(zone)
	if err != nil {
		return view{}, cause
	}

	v := viewOf(state, p, location)
	if v.asOf, err = l.store.BoardCounted(ctx, p); err != nil {
		return view{}, cause
	}
	if v.asOf.IsZero() { // nothing was ever recorded, so the boards are empty
		v.asOf = l.now()
	}

	return v, nil
}

func viewOf(state loyalty.BoardState, p loyalty.BoardPeriod, location *time.Location) view {
	v := view{location: location}
	if p != loyalty.BoardAll {
		v.side = state.Side
	}
	return v
}

// boardTurn is one round of counting that any number of readers wait for.
type boardTurn struct {
	done     chan struct{}
	state    loyalty.BoardState
	location *time.Location
	whole    bool
	err      error
}

// join returns the turn that begins after this moment: the running one may have read the journal already.
func (l *Leaderboard) join() *boardTurn {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.next == nil {
		l.next = &boardTurn{done: make(chan struct{})}
	}
	t := l.next
	if !l.active {
		l.active = true
		go l.turns()
	}
	return t
}

// turns counts as long as callers wait for it.
func (l *Leaderboard) turns() {
	for {
		l.lock.Lock()
		t := l.next
		l.next, l.active = nil, t != nil
		l.lock.Unlock()
		if t == nil {
			return
		}
		l.turn(t)
		close(t.done)
	}
}

// turnTime bounds a turn as a whole, so that readers do not wait for a database that does not answer.
const turnTime = 8 * time.Second

func (l *Leaderboard) turn(t *boardTurn) {
	ctx, cancel := context.WithTimeout(context.Background(), turnTime)
	defer cancel()
	end := time.Now().Add(l.patience)
	c := counting{Leaderboard: l, more: func() bool { return time.Now().Before(end) }}
	t.err = c.run(ctx)
	t.state, t.location, t.whole = c.state, c.location, c.whole
}
