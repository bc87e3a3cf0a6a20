//go:build linux

package store_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// ownTime is the processor time that this process has taken.
func ownTime(t testing.TB) time.Duration {
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFanOut writes what ten webhooks are to be told of fifty events of as many customers.
func BenchmarkFanOut(b *testing.B) {
	for _, d := range storetest.All {
		b.Run(d.Name, func(b *testing.B) {
			s := storetest.Open(b, d.Migrated(b))
			const events, webhooks = 50, 10
			people, now, ctx := enrol(b, s, "f-", events), time.UnixMilli(time.Now().UnixMilli()), context.Background()
			hooks := addWebhooks(b, s, webhooks, now)
			through, began := int64(0), ownTime(b)
			b.ResetTimer()
			for b.Loop() {
				f := loyalty.FanOut{From: through, Through: through + events, Deliveries: map[loyalty.ID][]loyalty.Delivery{}}
				for n := range events {
					event := loyalty.NewID(now, loyalty.ID{})
					for _, id := range hooks {
						f.Deliveries[id] = append(f.Deliveries[id], loyalty.Delivery{
							Webhook: id, Sequence: through + int64(n) + 1, Customer: people[n], Event: event, Type: "event.point_add",
							State: loyalty.DeliveryWaiting, NextAt: now, CreatedAt: now,
						})
					}
				}

				done, err := s.FanOut(ctx, f)
				require.NoError(b, err)
				require.True(b, done)
				through += events
			}

			b.ReportMetric(float64((ownTime(b)-began).Microseconds())/float64(b.N*events*webhooks), "cpu-µs/delivery")
		})
	}
}
