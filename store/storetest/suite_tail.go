package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
)

// tailed returns the events of a store's tail, checked against the journal: each once, numbers without a gap, and a
// customer's events in the order of commit.
func (b *bench) tailed(t testing.TB) (list []loyalty.TailEvent) {
	t.Helper()
	list, err := b.s.Tail(context.Background(), 0, 1_000_000)
	require.NoError(t, err)
	state, err := b.s.TailState(context.Background())
	require.NoError(t, err)
	require.Equal(t, int64(len(list)), state.Head)
	f := follower{through: map[loyalty.ID]loyalty.ID{}}
	require.NoError(t, f.see(list))
	return list
}

// follower checks what it reads of the tail.
type follower struct {
	position int64
	seen     atomic.Int64 // position, for other goroutines
	through  map[loyalty.ID]loyalty.ID
}

func (f *follower) see(list []loyalty.TailEvent) error {
	for _, e := range list {
		if e.Number != f.position+1 {
			return fmt.Errorf("number %d after %d", e.Number, f.position)
		}
		if before := f.through[e.Customer]; loyalty.CompareID(before, e.ID) >= 0 {
			return fmt.Errorf("number %d: %s comes after %s", e.Number, e.ID, before)
		}
		f.position, f.through[e.Customer] = e.Number, e.ID
	}

	f.seen.Store(f.position)
	return nil
}

// happens writes an event for each of some customers on a node, recorded at its clock.
func happens(s *store.Store, now time.Time, customers ...loyalty.ID) error {
	return happensAs(s, "visit", now, customers...)
}

// happensAs is happens with an action; the access key of that name sent the event, except for a visit.
func happensAs(s *store.Store, action string, now time.Time, customers ...loyalty.ID) error {
	needs := loyalty.Needs{Now: now, Apart: true}
	for _, id := range customers {
		needs.Customers = append(needs.Customers, loyalty.CustomerNeeds{ID: id})
	}

	for {
		err := s.Within(context.Background(), needs, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
			w := &loyalty.Writes{}
			for _, id := range customers {
				before := l.Customers[id].Customer
				after := before
				after.LastEvent = loyalty.NewID(now, before.LastEvent)
				w.Customers = append(w.Customers, changedCustomer{Before: before, After: after})
				e := loyalty.Event{ID: after.LastEvent, Customer: id, Action: action, At: now, RecordedAt: now}
				if action != "visit" {
					e.SentBy = "LK" + action
				}
				w.Events = append(w.Events, e)
			}
			return w, nil
		})
		if !errors.Is(err, loyalty.ErrBatchConflict) {
			return err
		}
		needs.Locked = true
	}
}

// tail numbers the commits of nodes, the left-overs of a killed node, and the past.
func tail(t *testing.T, b *bench) {
	ctx, other := context.Background(), Open(t, b.url)
	var ids []loyalty.ID
	for i := range 3 {
		c := b.customer(name(i))
		c.LastEvent = loyalty.ID{}
		ids = append(ids, b.enrol(t, c).ID)
	}

	do := func(s *store.Store, late time.Duration, customers ...loyalty.ID) {
		t.Helper()
		require.NoError(t, happens(s, b.now.Add(-late), customers...))
	}

	numbered := func(want int) []loyalty.TailEvent {
		t.Helper()
		list := b.tailed(t)
		require.Len(t, list, want)
		return list
	}

	state, err := b.s.TailState(ctx)
	require.NoError(t, err)
	require.Equal(t, loyalty.TailState{Present: true}, state, "a new database has no past")
	do(b.s, 0, ids...)
	do(b.s, 0, ids[0])
	numbered(0)
	require.NoError(t, b.s.NumberOwn(ctx))
	require.NoError(t, b.s.NumberOwn(ctx))
	require.Equal(t, b.now, numbered(4)[0].RecordedAt)

	do(other, 0, ids[0], ids[1]) // between two of this node, and not numbered by its writer
	do(b.s, 0, ids[0])
	require.NoError(t, b.s.NumberOwn(ctx))
	numbered(6)
	require.NoError(t, other.NumberOwn(ctx), "the rest is the other's own")
	numbered(7)

	killed := Open(t, b.url)
	do(killed, 20*time.Second, ids[2])
	do(killed, time.Hour, ids[1])
	recorded := func(from time.Time, limit int) (next loyalty.Cursor, last bool) {
		t.Helper()
		next, last, err := b.s.NumberRecorded(ctx, loyalty.Cursor{At: from}, b.now.Add(time.Hour), limit)
		require.NoError(t, err)
		return next, last
	}

	next, last := recorded(b.now.Add(-time.Minute), 1)
	require.False(t, last)
	require.Equal(t, b.now.Add(-20*time.Second), next.At)
	require.Equal(t, ids[2], numbered(8)[7].Customer)
	_, last = recorded(next.At.Add(time.Millisecond), 1)
	require.True(t, last, "what was recorded long ago is not seen")
	behind, last, err := b.s.NumberBehind(ctx, loyalty.ID{}, 1)
	require.NoError(t, err)
	require.Equal(t, ids[1], behind)
	require.False(t, last)
	_, last, err = b.s.NumberBehind(ctx, behind, 1)
	require.NoError(t, err)
	require.True(t, last)
	numbered(9)

	some, err := b.s.Tail(ctx, 3, 2)
	require.NoError(t, err)
	require.Equal(t, b.tailed(t)[3:5], some)
	require.NoError(t, b.s.NoteTail(ctx, false, b.now, b.now.Add(time.Hour)))
	require.NoError(t, b.s.NoteTail(ctx, true, b.now.Add(-time.Hour), time.Time{}))
	state, err = b.s.TailState(ctx)
	require.NoError(t, err)
	require.Equal(t, loyalty.TailState{Head: 9, Present: true, Looked: b.now, Compared: b.now.Add(time.Hour)},
		state, "none is set back")
	b.numbersThePast(t, ids)
}

// numbersThePast makes a database that never had a tail number its journal by the time of recording, while events
// continue.
func (b *bench) numbersThePast(t *testing.T, ids []loyalty.ID) {
	ctx, raw := context.Background(), Raw(t, b.url)
	want := b.count(t, "events")
	for _, text := range []string{`DELETE FROM tail`, `DELETE FROM numbered`,
		`UPDATE tail_state SET head = 0, present = false, looked_at = NULL`} {
		_, err := raw.Exec(text)
		require.NoError(t, err)
	}

	newcomer := b.customer("newcomer")
	newcomer.LastEvent = loyalty.ID{}
	b.enrol(t, newcomer)
	require.NoError(t, happens(b.s, b.now.Add(time.Second), ids[0], newcomer.ID))
	require.NoError(t, b.s.NumberOwn(ctx))
	list := b.tailed(t)
	require.Len(t, list, 1, "who has a past waits for it")
	require.Equal(t, newcomer.ID, list[0].Customer)
	for after, last := (loyalty.Cursor{At: time.UnixMilli(0)}), false; !last; {
		var err error
		after, last, err = b.s.NumberRecorded(ctx, after, b.now.Add(time.Hour), 3)
		require.NoError(t, err)
	}

	list = b.tailed(t)
	require.Len(t, list, want+2)
	require.Equal(t, b.now.Add(time.Second), list[len(list)-1].RecordedAt)
}

// tailOfMany numbers one customer's events, which are more than one transaction numbers: all of them, although the
// customer is requested once.
func tailOfMany(t *testing.T, b *bench) {
	const many = 600
	c := b.customer(name(0))
	c.LastEvent = loyalty.ID{}
	id := b.enrol(t, c).ID
	killed := Open(t, b.url)
	require.NoError(t, killed.Within(t.Context(),
		loyalty.Needs{Now: b.now, Apart: true, Customers: []loyalty.CustomerNeeds{{ID: id}}},
		func(l *loyalty.Loaded) (*loyalty.Writes, error) {
			before := l.Customers[id].Customer
			after, w := before, &loyalty.Writes{}
			for range many {
				after.LastEvent = loyalty.NewID(b.now, after.LastEvent)
				w.Events = append(w.Events,
					loyalty.Event{ID: after.LastEvent, Customer: id, Action: "visit", At: b.now, RecordedAt: b.now})
			}
			w.Customers = []changedCustomer{{Before: before, After: after}}
			return w, nil
		}))

	_, last, err := b.s.NumberBehind(t.Context(), loyalty.ID{}, 10)
	require.NoError(t, err)
	require.True(t, last)
	require.Len(t, b.tailed(t), many)
}

// tailRaces runs many writers on nodes with different clocks, with one slow commit in a hundred, numbering on all
// nodes at once, and one node that never numbers its events. A follower sees no number late, and in the end each
// event.
func tailRaces(t *testing.T, b *bench) {
	const customers, writers, batches = 12, 4, 40
	var ids []loyalty.ID
	for i := range customers {
		c := b.customer(name(i))
		c.LastEvent = loyalty.ID{}
		ids = append(ids, b.enrol(t, c).ID)
	}

	if b.d.Name == "postgres" && !OnCitus() { // after everything is written, before others can see it
		_, err := Raw(t, b.url).Exec(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
IF random() < 0.01 THEN PERFORM pg_sleep(0.3); END IF; RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()`)
		require.NoError(t, err)
	}

	ctx := context.Background()
	nodes := []*store.Store{b.s, Open(t, b.url), Open(t, b.url)}
	apart := []time.Duration{0, -20 * time.Second, 0}
	done, f := make(chan struct{}), follower{through: map[loyalty.ID]loyalty.ID{}}
	var writing, numbering sync.WaitGroup
	failed := make(chan error, 100)
	for i, s := range nodes {
		for w := range writers {
			dice := rand.New(rand.NewPCG(uint64(i), uint64(w))) //nolint:gosec // repeatable, and no secret
			writing.Go(func() {
				for range batches {
					n := dice.IntN(customers - 1)
					if err := happens(s, time.Now().Add(apart[i]), ids[n], ids[n+1]); err != nil {
						failed <- err
						return
					}
				}
			})
		}

		if i == len(nodes)-1 {
			break
		}

		numbering.Go(func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(5 * time.Millisecond):
				}
				_, _, err := s.NumberRecorded(ctx, loyalty.Cursor{At: time.Now().Add(-time.Second)}, time.Now().Add(time.Hour), 50)
				if err := errors.Join(err, s.NumberOwn(ctx)); err != nil {
					failed <- err
					return
				}
			}
		})
	}

	numbering.Go(func() {
		for {
			list, err := b.s.Tail(ctx, f.position, 20)
			if err = errors.Join(err, f.see(list)); err != nil {
				failed <- err
				return
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})

	writing.Wait()
	seen := f.seen.Load()
	close(done)
	numbering.Wait()
	close(failed)
	for err := range failed {
		require.NoError(t, err)
	}

	for after, last := (loyalty.ID{}), false; !last; {
		var err error
		after, last, err = b.s.NumberBehind(ctx, after, 5)
		require.NoError(t, err)
	}

	require.Len(t, b.tailed(t), b.count(t, "events"))
	require.Equal(t, b.count(t, "events"), len(nodes)*writers*batches*2)
	require.Positive(t, seen)
}
