package store_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// BenchmarkReplicas reads customers, their events and lists of customers by 16 callers,
// with 0, 1 and 2 replicas. On one machine all of them share its processors: what it tells
// is what a replica costs, not what it brings. The share of the primary is what is left for
// writes.
func BenchmarkReplicas(b *testing.B) {
	const customers = 500
	primary := storetest.NewPrimary(b)
	s := storetest.Open(b, primary.URL("postgres"))
	require.NoError(b, s.Migrate(b.Context()))
	enrol(b, s, "c-", customers)
	for range 10 {
		require.NoError(b, credit(s, "c-", customers))
	}

	addresses := []string{primary.Standby(b, "s1").URL("postgres"), primary.Standby(b, "s2").URL("postgres")}
	kinds := []struct {
		name string
		read func(context.Context, *store.Replicated, string) error
	}{
		{"customer", func(ctx context.Context, r *store.Replicated, name string) error {
			_, err := r.Customer(ctx, name)
			return err
		}},
		{"events", func(ctx context.Context, r *store.Replicated, name string) error {
			_, err := r.Events(ctx, loyalty.EventQuery{Ref: name, Page: loyalty.Page{Limit: 20}})
			return err
		}},
		{"list", func(ctx context.Context, r *store.Replicated, _ string) error {
			_, err := r.Customers(ctx, loyalty.CustomerQuery{Page: loyalty.Page{Limit: 50}})
			return err
		}},
	}

	for replicas := range 3 {
		r, err := store.WithReplicas(context.Background(), s, store.ReplicaOptions{URLs: addresses[:replicas], Lag: 5 * time.Second})
		require.NoError(b, err)
		require.Eventually(b, func() bool {
			for _, one := range r.Replicas() {
				if one.State != "ready" {
					return false
				}
			}
			return true
		}, time.Minute, 10*time.Millisecond)

		for _, k := range kinds {
			b.Run(fmt.Sprintf("%s/replicas=%d", k.name, replicas), func(b *testing.B) {
				var next, by atomic.Int64
				for _, one := range r.Replicas() {
					by.Add(one.Reads)
				}

				b.SetParallelism(8)
				b.RunParallel(func(p *testing.PB) {
					ctx := loyalty.Reading(context.Background())
					for p.Next() {
						if err := k.read(ctx, r, fmt.Sprint("c-", next.Add(1)%customers)); err != nil {
							b.Error(err)
						}
					}
				})

				after := int64(0)
				for _, one := range r.Replicas() {
					after += one.Reads
				}

				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reads/s")
				b.ReportMetric(100*float64(after-by.Load())/float64(b.N), "%replica")
			})
		}

		require.NoError(b, r.Release())
	}
}
