package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// pools hand out the oldest codes, as many as the whole batch requests.
func pools(t *testing.T, b *bench) {
	var want []loyalty.Coupon
	for i := range 4 {
		c := b.free("p", fmt.Sprint("P", i))
		c.ID = loyalty.NewID(b.now.Add(time.Duration(4-i)*time.Second), loyalty.ID{})
		want = append([]loyalty.Coupon{c}, want...)
		b.issue(t, c)
	}

	b.issue(t, b.free("other", "O"))
	taken := b.free("p", "taken")
	taken.State = loyalty.CouponClaimed
	b.issue(t, taken)
	l := b.get(t, loyalty.CustomerNeeds{Pools: map[string]int{"p": 1, "other": 5, "none": 1}},
		loyalty.CustomerNeeds{Pools: map[string]int{"p": 2}})
	require.Equal(t, want[:3], l.Free["p"])
	require.Len(t, l.Free["other"], 1)
	require.Empty(t, l.Free["none"])
}

// take gives a customer the first free code of the pool.
func take(customer loyalty.ID) func(*loyalty.Loaded) (*loyalty.Writes, error) {
	return func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		if len(l.Free["p"]) == 0 {
			return &loyalty.Writes{}, errWork
		}
		before := l.Free["p"][0]
		after := before
		after.State, after.Customer, after.Version = loyalty.CouponClaimed, customer, before.Version+1
		return &loyalty.Writes{Coupons: []loyalty.Changed[loyalty.Coupon]{{Before: before, After: after}}}, nil
	}
}

// codesOnce lets batches take codes of one pool at the same time: no code is given twice, and under locks no batch
// loses.
func codesOnce(t *testing.T, b *bench) {
	const writers, each = 4, 10
	for i := range writers * each {
		b.issue(t, b.free("p", fmt.Sprintf("P%03d", i)))
	}

	needs := loyalty.Needs{Now: b.now, Customers: []loyalty.CustomerNeeds{{Pools: map[string]int{"p": 1}}}}
	// Two batches that loaded the same code: one of them gets it.
	conflict := b.s.Within(context.Background(), needs, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		w, err := take(loyalty.ID{1})(l)
		if b.d.Name == "postgres" { // SQLite has one writer
			require.NoError(t, b.s.Within(context.Background(), needs, take(loyalty.ID{2})))
		}
		return w, err
	})

	if b.d.Name == "postgres" {
		require.ErrorIs(t, conflict, loyalty.ErrBatchConflict)
	}

	needs.Locked = true
	var wg sync.WaitGroup
	var given, empty atomic.Int64
	for k := range writers {
		wg.Go(func() {
			for range each {
				switch err := b.s.Within(context.Background(), needs, take(loyalty.ID{byte(k + 3)})); {
				case errors.Is(err, errWork):
					empty.Add(1)
				default:
					require.NoError(t, err)
					given.Add(1)
				}
			}
		})
	}

	wg.Wait()
	require.Equal(t, []int64{writers*each - 1, 1}, []int64{given.Load(), empty.Load()})
	var n, versions int
	require.NoError(t, Raw(t, b.url).
		QueryRow(`SELECT count(*), sum(version) FROM coupons WHERE state = 'claimed' AND customer_id IS NOT NULL`).
		Scan(&n, &versions))
	require.Equal(t, []int{writers * each, writers * each}, []int{n, versions}, "each code was given once")
}

// countsShared lets batches count the same things at the same time. Under locks no batch loses, not even the one that
// counts first.
func countsShared(t *testing.T, b *bench) {
	const writers, rounds = 4, 10
	for _, locked := range []bool{true, false} {
		needs := loyalty.Needs{Now: b.now, Locked: locked, Customers: []loyalty.CustomerNeeds{{Tallies: []string{"b", "a"}}}}
		before := b.get(t, needs.Customers...).Tallies["a"]
		var won atomic.Int64
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() {
				for range rounds {
					err := b.s.Within(context.Background(), needs, countBoth)
					if locked || err == nil {
						require.NoError(t, err)
						won.Add(1)
					} else {
						require.ErrorIs(t, err, loyalty.ErrBatchConflict)
					}
				}
			})
		}

		wg.Wait()
		require.Positive(t, won.Load())
		require.Equal(t, map[string]int64{"a": before + won.Load(), "b": before + won.Load()},
			b.get(t, needs.Customers...).Tallies)
	}
}

func countBoth(l *loyalty.Loaded) (*loyalty.Writes, error) {
	w := &loyalty.Writes{}
	for _, key := range []string{"b", "a"} {
		if n, known := l.Tallies[key]; known {
			w.Tallies = append(w.Tallies,
				loyalty.Changed[loyalty.Tally]{Before: loyalty.Tally{Key: key, Count: n},
					After: loyalty.Tally{Key: key, Count: n + 1}})
		} else {
			w.NewTallies = append(w.NewTallies, loyalty.Tally{Key: key, Count: 1})
		}
	}
	return w, nil
}

// couponsLocked lets batches change one coupon at the same time, under locks.
func couponsLocked(t *testing.T, b *bench) {
	c := b.enrol(t, b.customer("c-1"))
	b.issue(t, b.held(c, "X"), b.held(c, "Y"))
	needs := loyalty.Needs{Now: b.now, Locked: true,
		Customers: []loyalty.CustomerNeeds{{ID: c.ID, Coupons: []string{"Y", "X"}}}}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 5 {
				require.NoError(t, b.s.Within(context.Background(), needs, func(l *loyalty.Loaded) (*loyalty.Writes, error) {
					w := &loyalty.Writes{}
					for _, code := range []string{"Y", "X"} {
						after := couponIn(l, code)
						after.Balance, after.Version = after.Balance-1, after.Version+1
						w.Coupons = append(w.Coupons, loyalty.Changed[loyalty.Coupon]{Before: couponIn(l, code), After: after})
					}
					return w, nil
				}))
			}
		})
	}

	wg.Wait()
	for _, code := range needs.Customers[0].Coupons {
		require.Equal(t, b.held(c, code).Balance-20, couponIn(b.get(t, needs.Customers...), code).Balance)
	}
}

// dueShared gives several workers different due customers; those of a worker that fails are left to the others.
func dueShared(t *testing.T, b *bench) {
	const customers = 12
	ids := make([]loyalty.ID, customers)
	for i := range ids {
		c := b.customer(name(i))
		c.DueAt = b.now.Add(time.Duration(i-customers+1) * time.Second)
		b.enrol(t, c)
		ids[i] = c.ID
		require.NoError(t, b.put(loyalty.Writes{NewLots: []loyalty.CustomerLot{b.lot(c, 1, 0, 0), b.lot(c, 0, 0, 1)}}))
	}

	due := func(work func(*loyalty.Loaded) (*loyalty.Writes, error), n int, except ...loyalty.ID) error {
		return b.s.Within(context.Background(), loyalty.Needs{Now: b.now, Due: n, DueExcept: except}, work)
	}
	require.Equal(t, errWork, due(func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		require.Equal(t, ids[:3], l.Due, "the longest waiting first")
		require.Len(t, l.Customers, 3)
		got := l.Customers[ids[0]]
		require.NotNil(t, got.Customer.Key)
		require.Equal(t, loyalty.OpenLots, got.LotScope)
		require.Len(t, got.Lots, 1)
		if b.d.Name == "postgres" { // another worker, while these are taken
			require.Equal(t, errWork, due(func(l *loyalty.Loaded) (*loyalty.Writes, error) {
				require.Equal(t, ids[4:6], l.Due)
				return nil, errWork
			}, 2, ids[3]))
		}
		return nil, errWork
	}, 3))

	require.Equal(t, errWork, due(func(l *loyalty.Loaded) (*loyalty.Writes, error) {
		require.Equal(t, ids[2:4], l.Due, "whom nobody settled is due again")
		return nil, errWork
	}, 2, ids[:2]...))

	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for more := true; more; {
				require.NoError(t, due(func(l *loyalty.Loaded) (*loyalty.Writes, error) {
					more = len(l.Due) > 0
					return b.settle(l)
				}, 2))
			}
		})
	}

	wg.Wait()
	left, err := b.s.Due(context.Background(), b.now, customers)
	require.NoError(t, err)
	require.Empty(t, left)
	require.Equal(t, customers, b.count(t, "events"), "each was settled once")
}

// settle writes an event for each due customer and clears their due date.
func (b *bench) settle(l *loyalty.Loaded) (*loyalty.Writes, error) {
	w := &loyalty.Writes{}
	for _, id := range l.Due {
		before := l.Customers[id].Customer
		after := before
		after.DueAt = time.Time{}
		w.Customers = append(w.Customers, changedCustomer{Before: before, After: after})
		w.Events = append(w.Events, b.event(after))
	}
	return w, nil
}
