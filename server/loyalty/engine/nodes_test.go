package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine/traffic"
	"github.com/loyalty-platform/loyalty/server/loyalty/loyaltytest"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// conflicts counts the transactions that met another writer's.
type conflicts struct{ met atomic.Int64 }

func (c *conflicts) Tried(a traffic.Attempt) {
	if errors.Is(a.Err, loyalty.ErrBatchConflict) {
		c.met.Add(1)
	}
}

func (*conflicts) Ended(string, *loyalty.Result) {}

// TestNodesFightOverACustomer: four nodes write to one customer all the time. Each loses
// twice, and then takes the locks for a second, in which it cannot lose.
func TestNodesFightOverACustomer(t *testing.T) {
	const nodes, callers, events = 4, 4, 40
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := newShop(t, url, modules{})
		s.Must("hot", "opt_in", `{"email":"hot@shop.test"}`)
		var met [nodes]conflicts
		var all sync.WaitGroup
		began := time.Now()
		for n := range nodes {
			e := s.Node(func(o *engine.EngineOptions) { o.Observer = &met[n] })
			for range callers {
				all.Go(func() {
					for range events {
						if _, err := e.Submit(context.Background(), loyaltytest.Event("hot", "point_add", `{"points":1,"reason":"r"}`)); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
		}

		all.Wait()
		most := 3 + int64(time.Since(began)/time.Second) // two, and one for each second that is over
		for n := range met {
			require.LessOrEqual(t, met[n].met.Load(), most, "conflicts of node %d", n)
		}

		last := s.Must("hot", "point_add", `{"points":1,"reason":"r"}`)
		require.EqualValues(t, nodes*callers*events+1, last.Customer.Figures.Score)
	})
}

// TestBulksShareCustomers: bulks of the same customers, and their single events, are decided one after the other in one
// process. Otherwise each would conflict with another one and be decided again. Each round has new customers, because
// contended ones are soon locked from the start.
func TestBulksShareCustomers(t *testing.T) {
	const callers, rounds = 4, 10
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := newShop(t, url, modules{})
		var met conflicts
		e := s.Node(func(o *engine.EngineOptions) { o.Observer, o.Overlap = &met, 2 })
		for round := range rounds {
			var enrol, bulk []loyalty.Submission
			for i := range callers {
				name := fmt.Sprint("c", round, "-", i)
				enrol = append(enrol, loyaltytest.Event(name, "opt_in", `{"email":"`+name+`@shop.test"}`))
				bulk = append(bulk, loyaltytest.Event(name, "point_add", `{"points":1}`))
			}

			for _, r := range e.SubmitAll(t.Context(), enrol) {
				require.NoError(t, r.Err)
			}

			var all sync.WaitGroup
			for i := range callers {
				all.Go(func() {
					for _, r := range e.SubmitAll(t.Context(), bulk) {
						assert.NoError(t, r.Err)
					}
				})
				all.Go(func() {
					_, err := e.Submit(t.Context(), bulk[i])
					assert.NoError(t, err)
				})
			}

			all.Wait()
			for i, r := range e.SubmitAll(t.Context(), bulk) {
				require.EqualValues(t, callers+2, r.Outcome.Customer.Figures.Score, "customer %d", i)
			}
		}

		require.LessOrEqual(t, met.met.Load(), int64(rounds/2), "conflicts") // a few, where a batch takes longer than others wait
	})
}
