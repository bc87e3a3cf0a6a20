// Package tail numbers committed events, so that they can be followed in an order that misses none. Each node numbers
// the events that it committed, a job numbers the events that a node left without, and so does every follower. A
// follower reads what comes after its position; if it writes to the database, work and position move in one
// transaction.
package tail

import (
	"context"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// How far back to look for events that were committed after the last look, or recorded by a clock that is behind. A
// follower looks back a little; the job looks back as far as a batch may take and clocks may differ. Later events are
// found when every customer is compared.
const (
	lookBack    = 5 * time.Second
	lookBackJob = 2 * time.Minute
)

// How often a node numbers what it committed, and how often the job compares every customer with the journal.
const (
	watchEvery   = 250 * time.Millisecond
	compareEvery = 10 * time.Minute
)

// lookAhead is how far the clock of another node may be ahead of this one's for its events to be found at once. Events
// further ahead are found when their time comes, or when every customer is compared.
const lookAhead = 24 * time.Hour

// glanceWithin is how old this node's last look may be for Glance to suffice. The job looks as often.
const glanceWithin = 15 * time.Second

// How many events are numbered, and how many customers compared, at once.
const (
	recordedPage = 2000
	behindPage   = 250
)

// Tail numbers events on one node. It must not be used concurrently; Watch runs beside it.
type Tail struct {
	store  loyalty.TailStore
	now    func() time.Time
	looked time.Time // everything recorded before this was looked for on this node
}

// New makes a Tail. It starts nothing.
func New(store loyalty.TailStore, clock func() time.Time) *Tail {
	return &Tail{store: store, now: clock}
}

// Watch numbers what this node committed, a moment after the commit, until ctx ends. report is called with failures;
// the job numbers what was left.
func Watch(ctx context.Context, store loyalty.TailStore, report func(error)) {
	every := time.NewTicker(watchEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		if err := store.NumberOwn(ctx); err != nil && ctx.Err() == nil {
			report(err)
		}
	}
}

// Follow moves a follower through the tail while more returns true. First it numbers what was committed until now. Then
// it calls step for one piece after the other; step moves the follower's position in the transaction of its work, and
// last means that nothing is left. whole reports that the follower has passed everything that was committed before.
func (t *Tail) Follow(
	ctx context.Context, more func() bool, step func() (last bool, err error),
) (whole bool, err error) {
	numbered, err := t.look(ctx, lookBack, more)
	for last := false; err == nil && !last; {
		if !more() {
			return false, nil
		}
		last, err = step()
	}
	return numbered, err
}

// Glance saves a follower from Follow if nothing is new, as for most readers. quiet checks in one query whether
// everything recorded between two instants has its number and the follower is at the end of the tail. It is not called
// if this node has not looked for a while.
func (t *Tail) Glance(ctx context.Context, quiet func(from, before time.Time) (bool, error)) (level bool, err error) {
	now := t.now()
	if since := now.Sub(t.looked); since < 0 || since > glanceWithin {
		return false, nil
	}
	if err := t.store.NumberOwn(ctx); err != nil {
		return false, err
	}
	level, err = quiet(t.looked.Add(-lookBack), now.Add(lookAhead))
	if level {
		t.looked = now
	}
	return level, err
}

// Keep numbers what nodes left behind: until the present is reached, everything by time of recording; then recent
// events, and from time to time everything that any customer has.
func (t *Tail) Keep(ctx context.Context) error {
	more := func() bool { return ctx.Err() == nil }
	whole, err := t.look(ctx, lookBackJob, more)
	if err != nil || !whole {
		return err
	}

	s, err := t.store.TailState(ctx)
	if err != nil {
		return err
	}

	var compared time.Time
	if since := t.now().Sub(s.Compared); since < 0 || since >= compareEvery {
		compared = t.now()
		if err := t.compare(ctx, more); err != nil {
			return err
		}
	}

	return t.store.NoteTail(ctx, true, t.looked, compared)
}

// look numbers what this node committed, and what was recorded since the last look.
func (t *Tail) look(ctx context.Context, back time.Duration, more func() bool) (whole bool, err error) {
	if err := t.store.NumberOwn(ctx); err != nil {
		return false, err
	}

	s, err := t.store.TailState(ctx)
	if err != nil {
		return false, err
	}

	now, from := t.now(), s.Looked
	if t.looked.After(from) {
		from = t.looked
	}
	if from.After(now) { // the clock was set back
		from = now
	}

	after := loyalty.Cursor{At: time.UnixMilli(0)}
	if !from.IsZero() {
		after.At = from.Add(-back)
	}

	for more() {
		next, last, err := t.store.NumberRecorded(ctx, after, now.Add(lookAhead), recordedPage)
		switch {
		case err != nil:
			return false, err
		case last && !s.Present:
			err = t.store.NoteTail(ctx, true, now, time.Time{})
		case !last:
			err = t.store.NoteTail(ctx, false, next.At, time.Time{})
		}

		if err != nil {
			return false, err
		}

		if last {
			t.looked = now
			return true, nil
		}

		after = next
	}

	return false, nil
}

// compare numbers every event of each customer that has no number, whenever it was recorded.
func (t *Tail) compare(ctx context.Context, more func() bool) error {
	var after loyalty.ID
	for more() {
		next, last, err := t.store.NumberBehind(ctx, after, behindPage)
		if err != nil || last {
			return err
		}
		after = next
	}
	return nil
}
