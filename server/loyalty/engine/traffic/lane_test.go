package traffic

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// overlapping is a lane whose batches overlap however few the callers are.
func overlapping(most int) *lane {
	l := newLane(make(chan waiting, 4*MaxBatch), most, 2, newInFlight())
	l.many = 0
	return l
}

// arrive puts submissions of customers into the lane's queue.
func arrive(l *lane, customers ...string) {
	for _, c := range customers {
		l.queue <- submitted(context.Background(), c)
	}
}

func submitted(ctx context.Context, customer string) waiting {
	t := &Ticket{Needs: loyalty.CustomerNeeds{Ref: loyalty.Name{Kind: loyalty.NameCustomer, Value: customer}}}
	return waiting{t, ctx, new(atomic.Bool)}
}

// names are the customers of a batch, one for each of its submissions; nil if there is no batch.
func (f *flight) names() (list []string) {
	if f == nil {
		return nil
	}
	for _, t := range f.tickets {
		list = append(list, t.customer())
	}
	return list
}

// lands ends a batch all of which is decided.
func (l *lane) lands(f *flight) { l.land(f, time.Millisecond) }

// taken is the next batch, once there is one.
func taken(l *lane) chan *flight {
	c := make(chan *flight, 1)
	go func() { c <- l.take() }()
	synctest.Wait()
	return c
}

// TestCustomerInOneBatch: a customer of a batch in flight is in no other one. Later submissions of that customer wait for
// its end, in their order, and others do not wait for them.
func TestCustomerInOneBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := overlapping(MaxBatch)
		arrive(l, "ann", "bob", "ann")
		first := l.take()
		assert.Equal(t, []string{"ann", "bob", "ann"}, first.names())
		arrive(l, "ann", "cid", "bob", "ann")
		second := l.take()
		assert.Equal(t, []string{"cid"}, second.names())
		assert.Equal(t, 3, l.waiting())

		third := taken(l)
		assert.Empty(t, third, "all that wait are in a batch")
		arrive(l, "ann")
		l.lands(second)
		synctest.Wait()
		assert.Empty(t, third)
		assert.Equal(t, 4, l.waiting())
		late := submitted(context.Background(), "bob")
		l.queue <- late
		synctest.Wait()
		l.lands(first)
		f := <-third
		assert.Equal(t, []string{"ann", "bob", "ann", "ann", "bob"}, f.names())
		assert.Same(t, late.Ticket, f.tickets[4], "the last to come is last")
		assert.Zero(t, l.waiting())
	})
}

// TestBatchesShareCallers: of many callers each batch takes its share, so that one is decided while
// the other is committed; few share a commit, and so do the submissions of one customer.
func TestBatchesShareCallers(t *testing.T) {
	for _, c := range []struct {
		callers, overlap, first int
		hot                     bool
	}{
		{callers: 64, overlap: 2, first: 32},
		{callers: 64, overlap: 1, first: 64},
		{callers: 300, overlap: 2, first: MaxBatch},
		{callers: 16, overlap: 2, first: 8},
		{callers: 14, overlap: 2, first: 14},
		{callers: 16, overlap: 1, first: 16},
		{callers: 64, overlap: 2, first: 64, hot: true},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLane(make(chan waiting, 4*MaxBatch), MaxBatch, c.overlap, newInFlight())
				for i := range c.callers {
					name := "ann"
					if !c.hot {
						name = fmt.Sprint("c", i)
					}
					arrive(l, name)
				}
				assert.Len(t, l.take().tickets, c.first)
			})
		})
	}
}

// TestFewShareABatch: few callers have no second batch beside the one under way, in which each event
// would cost more; from twice as many on as share a commit well they have.
func TestFewShareABatch(t *testing.T) {
	for callers, beside := range map[int]bool{8: false, 2*leastShare - 2: false, 2 * leastShare: true} {
		t.Run(fmt.Sprint(callers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLane(make(chan waiting, 4*MaxBatch), MaxBatch, 2, newInFlight())
				for i := range callers {
					arrive(l, fmt.Sprint("c", i))
				}
				first := l.take()
				arrive(l, "ann")
				second := taken(l)
				assert.Equal(t, beside, len(second) > 0)
				l.lands(first)
				assert.Contains(t, (<-second).names(), "ann")
			})
		})
	}
}

// TestLaneCloses: what was accepted is decided, also what waits for another batch, before the
// workers end; a caller who has left is in no batch.
func TestLaneCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := overlapping(MaxBatch)
		arrive(l, "ann")
		first := l.take()
		arrive(l, "ann", "ann")
		second := taken(l)
		gone, leave := context.WithCancel(t.Context())
		leave()
		l.queue <- submitted(gone, "cid")
		close(l.queue)
		synctest.Wait()
		assert.Empty(t, second)
		l.lands(first)
		assert.Equal(t, []string{"ann", "ann"}, (<-second).names())
		assert.Nil(t, l.take())
		assert.Nil(t, l.take(), "each worker is told")
	})
}

// TestLateIsBounded: no more submissions are put aside than a batch takes; those behind
// them wait in the queue, whose length is bounded.
func TestLateIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := overlapping(4)
		arrive(l, "ann")
		first := l.take()
		arrive(l, "ann", "ann", "ann", "ann", "ann", "bob")
		second := taken(l)
		assert.Empty(t, second)
		assert.Len(t, l.queue, 2)
		assert.Equal(t, 6, l.waiting())
		l.lands(first)
		assert.Equal(t, []string{"ann", "ann", "ann", "ann"}, (<-second).names())
		third := l.take()
		assert.Equal(t, []string{"bob"}, third.names())
	})
}

// TestConflictsEndOverlap: after a batch that conflicted the next ones have none beside them, for
// longer each time, until batches go well again.
func TestConflictsEndOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := overlapping(MaxBatch)
		conflict := func() {
			arrive(l, "ann")
			f := l.take()
			f.tickets[0].conflicted = true
			l.lands(f)
		}

		singles := func() (n int) {
			for {
				arrive(l, "ann")
				f := l.take()
				arrive(l, "bob")
				next := taken(l)
				beside := len(next) > 0
				l.lands(f)
				l.lands(<-next)
				if beside {
					return n
				}
				n += 2
			}
		}

		assert.Zero(t, singles())
		conflict()
		assert.Equal(t, 2, singles())
		conflict()
		assert.Equal(t, 4, singles())
		for range 20 * regained {
			assert.Zero(t, singles())
		}

		conflict()
		assert.Equal(t, 2, singles(), "it is forgotten")
	})
}
