package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestRemovedWebhooksAreForgotten: of a webhook with very many deliveries that wait, the removal drops one piece, and the job
// the rest; others keep theirs.
func TestRemovedWebhooksAreForgotten(t *testing.T) {
	const many, piece = 12_000, 5000
	storetest.EachURL(t, func(t *testing.T, url string) {
		s := storetest.Open(t, url)
		now, ctx := time.UnixMilli(time.Now().UnixMilli()), context.Background()
		hooks := addWebhooks(t, s, 3, now)
		removed, busy, quiet := hooks[0], hooks[1], hooks[2]
		f := loyalty.FanOut{Through: many, Deliveries: map[loyalty.ID][]loyalty.Delivery{}}
		for id, n := range map[loyalty.ID]int{removed: many, busy: 3, quiet: 0} {
			f.Deliveries[id] = nil
			for i := range n {
				f.Deliveries[id] = append(f.Deliveries[id], loyalty.Delivery{
					Webhook: id, Sequence: int64(i + 1), Event: loyalty.NewID(now, loyalty.ID{}), Type: "event.point_add", State: loyalty.DeliveryWaiting, NextAt: now, CreatedAt: now,
				})
			}
		}

		done, err := s.FanOut(ctx, f)
		require.NoError(t, err)
		require.True(t, done)
		raw := storetest.Raw(t, url)
		_, err = raw.Exec("INSERT INTO attempts (webhook_id, number, n, at, status, duration) SELECT webhook_id, number, 1, created_at, 500, 1 FROM deliveries")
		require.NoError(t, err)
		left := func(table string) (n int) {
			require.NoError(t, raw.QueryRow("SELECT count(*) FROM "+table).Scan(&n))
			return n
		}

		forget := func() int64 {
			rows, err := s.ForgetDeliveries(ctx, now)
			require.NoError(t, err)
			return rows
		}

		require.Zero(t, forget(), "while it is there")

		remove := func(id loyalty.ID) error {
			return s.Change(ctx, func(tx loyalty.AdminTx) error {
				hooks := tx.(loyalty.WebhookAdminTx)
				if _, found, err := hooks.Webhook(id); err != nil || !found {
					return loyalty.ErrWebhookNotFound
				}
				return hooks.RemoveWebhook(id)
			})
		}

		require.NoError(t, remove(removed))
		require.Equal(t, many+3-piece, left("deliveries"), "one piece")
		require.Equal(t, many+3-piece, left("attempts"))
		require.ErrorIs(t, remove(removed), loyalty.ErrWebhookNotFound)
		_, err = s.Webhook(ctx, removed)
		require.ErrorIs(t, err, loyalty.ErrWebhookNotFound)
		_, err = s.Deliveries(ctx, loyalty.DeliveryQuery{Webhook: removed, Limit: 1})
		require.ErrorIs(t, err, loyalty.ErrWebhookNotFound)
		due, err := s.DueWebhooks(ctx, now)
		require.NoError(t, err)
		require.Equal(t, []loyalty.ID{busy}, due)
		require.ErrorIs(t, s.WorkWebhook(ctx, removed, func(loyalty.WebhookTx) error { return nil }), loyalty.ErrWebhookNotFound)
		late := loyalty.FanOut{From: many, Through: many + 1, Deliveries: map[loyalty.ID][]loyalty.Delivery{removed: nil, busy: nil}}
		done, err = s.FanOut(ctx, late)
		require.NoError(t, err)
		require.False(t, done, "who still knew it is overtaken")

		require.Equal(t, int64(2*(many-piece)), forget())
		require.Equal(t, 3, left("deliveries"))
		require.Equal(t, 3, left("attempts"))
		require.Zero(t, forget())
	})
}
