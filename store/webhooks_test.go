package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestSettlingIsCountedByBatch: what became of eight messages takes PostgreSQL as many
// statements and round trips as what became of one.
func TestSettlingIsCountedByBatch(t *testing.T) {
	s, p, _ := proxied(t)
	const customers = 9
	people := enrol(t, s, "w-", customers)
	now, ctx := time.UnixMilli(time.Now().UnixMilli()), context.Background()
	w := loyalty.Webhook{
		ID: loyalty.NewID(now, loyalty.ID{}), Label: "CRM", URL: "https://crm.example.com/", Types: []string{"event.*"}, Ordered: true, Version: "2026-11",
		Format: "json", Concurrency: 8, State: loyalty.WebhookActive, Health: loyalty.WebhookHealth{Pace: 8}, CreatedAt: now, UpdatedAt: now,
	}

	require.NoError(t, s.Change(ctx, func(tx loyalty.AdminTx) error { return tx.(loyalty.WebhookAdminTx).SaveWebhook(w) }))
	f := loyalty.FanOut{Through: 2 * customers, Deliveries: map[loyalty.ID][]loyalty.Delivery{}}
	for n := range 2 * customers {
		f.Deliveries[w.ID] = append(f.Deliveries[w.ID], loyalty.Delivery{
			Webhook: w.ID, Sequence: int64(n + 1), Customer: people[n%customers], Event: loyalty.NewID(now, loyalty.ID{}), Type: "event.point_add",
			State: loyalty.DeliveryWaiting, NextAt: now, CreatedAt: now,
		})
	}

	done, err := s.FanOut(ctx, f)
	require.NoError(t, err)
	require.True(t, done)

	owner, other := loyalty.NewID(now, loyalty.ID{}), loyalty.NewID(now, loyalty.ID{})
	// settled claims and settles so many, and counts what settling asked
	settled := func(n int, state loyalty.DeliveryState) (statements, trips int64) {
		var list []loyalty.Delivery
		require.NoError(t, s.WorkWebhook(ctx, w.ID, func(tx loyalty.WebhookTx) (err error) {
			list, err = tx.Claim(owner, now, now.Add(time.Minute), n, false)
			return err
		}))

		require.Len(t, list, n)
		require.NoError(t, s.WorkWebhook(ctx, w.ID, func(tx loyalty.WebhookTx) error {
			numbers := make([]int64, n)
			what := make([]loyalty.Settled, n)
			for i, d := range list {
				numbers[i], d.State, d.LastAt, d.LastStatus = d.Number, state, now, 204
				d.Attempts++
				what[i] = loyalty.Settled{Delivery: d, Attempt: loyalty.Attempt{At: now, Status: 204, Duration: time.Millisecond, Answer: []byte("thanks")}}
			}

			foreign, err := tx.Held(other, numbers)
			require.NoError(t, err)
			require.Empty(t, foreign, "they are another owner's")
			p.Reset()
			held, err := tx.Held(owner, numbers)
			require.NoError(t, err)
			require.Len(t, held, n)
			err = tx.Settle(what)
			statements, trips = p.Statements.Load(), p.RoundTrips.Load()
			return err
		}))

		for _, d := range list {
			got, attempts, err := s.Delivery(ctx, w.ID, d.Number)
			require.NoError(t, err)
			require.Equal(t, state, got.State)
			require.Equal(t, d.Attempts+1, got.Attempts)
			require.Len(t, attempts, 1)
			require.Equal(t, "thanks", string(attempts[0].Answer))
		}

		return statements, trips
	}

	settled(1, loyalty.DeliverySent) // prepares
	settled(8, loyalty.DeliverySent)
	one, trips := settled(1, loyalty.DeliverySent)
	eight, same := settled(8, loyalty.DeliveryDead)
	t.Logf("1: %d statements in %d round trips; 8: %d in %d", one, trips, eight, same)
	want := int64(2)
	if storetest.OnCitus() { // keys of customers are on other machines
		want++
	}

	require.Equal(t, []int64{want, want}, []int64{eight, same}, "what is held, and what became of it")
	require.Equal(t, []int64{eight, same}, []int64{one, trips})
}

// TestFanOutIsCountedByBatch: what ten webhooks are told of twenty customers takes PostgreSQL as many statements
// and round trips as what one is told of one.
func TestFanOutIsCountedByBatch(t *testing.T) {
	s, p, _ := proxied(t)
	people, now, ctx := enrol(t, s, "w-", 20), time.UnixMilli(time.Now().UnixMilli()), context.Background()
	hooks := addWebhooks(t, s, 10, now)
	position := int64(0)
	fannedOut := func(hooks []loyalty.ID, people []loyalty.ID) (statements, trips int64) {
		f := loyalty.FanOut{From: position, Through: position + int64(len(people)), Deliveries: map[loyalty.ID][]loyalty.Delivery{}}
		for _, id := range hooks {
			for n, customer := range people {
				f.Deliveries[id] = append(f.Deliveries[id], loyalty.Delivery{
					Webhook: id, Sequence: position + int64(n) + 1, Customer: customer, Event: loyalty.NewID(now, loyalty.ID{}), Type: "event.point_add",
					State: loyalty.DeliveryWaiting, NextAt: now, CreatedAt: now,
				})
			}
		}

		p.Reset()
		done, err := s.FanOut(ctx, f)
		require.NoError(t, err)
		require.True(t, done)
		return p.Statements.Load(), p.RoundTrips.Load()
	}

	fannedOut(hooks, people[:1]) // prepares
	position++
	all, trips := fannedOut(hooks, people)
	position += 20
	one, same := fannedOut(hooks[:1], people[:1])
	t.Logf("1: %d statements in %d round trips; 200: %d in %d", one, same, all, trips)
	require.Equal(t, one, all)
	require.LessOrEqual(t, max(same, trips), int64(4), "what is there, what is new, the commit")

	done, err := s.FanOut(ctx, loyalty.FanOut{From: position, Through: position + 1, Deliveries: map[loyalty.ID][]loyalty.Delivery{hooks[0]: nil, hooks[1]: nil}})
	require.NoError(t, err)
	require.False(t, done, "the first of them has moved, so nothing is written")
	list, err := s.Webhooks(ctx)
	require.NoError(t, err)
	for _, w := range list {
		want := int64(21)
		if w.ID == hooks[0] {
			want = 22
		}
		require.Equal(t, want, w.Cursor)
	}
}

// addWebhooks adds active webhooks that want everything.
func addWebhooks(t testing.TB, s *store.Store, n int, now time.Time) (ids []loyalty.ID) {
	t.Helper()
	require.NoError(t, s.Change(context.Background(), func(tx loyalty.AdminTx) error {
		for range n {
			w := loyalty.Webhook{
				ID: loyalty.NewID(now, loyalty.ID{}), Label: "CRM", URL: "https://crm.example.com/", Types: []string{"event.*"}, Ordered: true, Version: "2026-11",
				Format: "json", Concurrency: 8, State: loyalty.WebhookActive, Health: loyalty.WebhookHealth{Pace: 8}, CreatedAt: now, UpdatedAt: now,
			}
			ids = append(ids, w.ID)
			if err := tx.(loyalty.WebhookAdminTx).SaveWebhook(w); err != nil {
				return err
			}
		}
		return nil
	}))

	return ids
}
