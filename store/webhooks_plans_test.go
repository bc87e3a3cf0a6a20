package store_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// fillAttempts makes one attempt a second up to now.
const fillAttempts = `INSERT INTO attempts (webhook_id, number, n, at, status, duration)
WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 20000)
SELECT {id}, n, 1, {now} - (20000 - n) * 1000, CASE WHEN n % 9 = 0 THEN 0 ELSE 204 END, n % 700 FROM n`

// TestAttemptsPlan: the attempts of an hour are found by their instant, however many there are of the days before, and no more of them
// are read than are asked for: nothing is sorted first.
func TestAttemptsPlan(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		s, raw, ctx := storetest.Open(t, url), storetest.Raw(t, url), context.Background()
		now := time.Now()
		w := loyalty.Webhook{
			ID: loyalty.NewID(now, loyalty.ID{}), Label: "CRM", URL: "https://crm.example.com/", Types: []string{"event.*"}, Ordered: true, Version: "2026-11",
			Format: "json", Concurrency: 8, State: loyalty.WebhookActive, Health: loyalty.WebhookHealth{Pace: 8}, CreatedAt: now, UpdatedAt: now,
		}

		require.NoError(t, s.Change(ctx, func(tx loyalty.AdminTx) error { return tx.(loyalty.WebhookAdminTx).SaveWebhook(w) }))
		embedded := !strings.HasPrefix(url, "postgres")
		fill := strings.ReplaceAll(fillAttempts, "{now}", "$1")
		if embedded {
			fill = strings.ReplaceAll(fill, "{id}", "(SELECT id FROM webhooks)")
		} else {
			fill = strings.ReplaceAll(strings.ReplaceAll(fill, "{id}", "(SELECT id FROM webhooks)"), "$1", "$1::bigint")
		}

		_, err := raw.Exec(fill, now.UnixMilli())
		require.NoError(t, err)
		_, err = raw.Exec("ANALYZE")
		require.NoError(t, err)

		reads := map[string][]any{}
		require.NoError(t, s.OnRead(func(sql string, parameters []any) { reads[sql] = parameters }))
		list, since, err := s.Attempts(ctx, w.ID, now.Add(-time.Hour), 1000)
		require.NoError(t, err)
		sum := int64(0)
		for _, c := range list {
			sum += c.Count
		}

		require.Equal(t, int64(1000), sum, "the newest of 3,600")
		require.WithinDuration(t, now.Add(-1000*time.Second), since, 2*time.Second)
		found := 0
		for sql, parameters := range reads {
			if !strings.Contains(sql, "FROM attempts") {
				continue
			}

			found++
			if embedded {
				rows, err := raw.Query("EXPLAIN QUERY PLAN "+sql, parameters...)
				require.NoError(t, err)
				plan := ""
				for _, step := range planSteps(t, rows) {
					plan += step.text + "\n"
				}
				require.Contains(t, plan, "SEARCH attempts USING INDEX attempts_at (at>?)")
				require.NotContains(t, plan, "FOR ORDER BY")
				continue
			}

			var text []byte
			require.NoError(t, raw.QueryRow("EXPLAIN (FORMAT JSON) "+sql, parameters...).Scan(&text))
			var tree []struct{ Plan planNode }
			require.NoError(t, json.Unmarshal(text, &tree))
			require.Empty(t, tree[0].Plan.scans(), "%s", text)
			require.Contains(t, string(text), `"attempts_at"`)
			require.NotContains(t, string(text), `"Sort Key": ["attempts.at`, "the index is read from its end")
		}

		require.Equal(t, 1, found)
	})
}

// TestDeliveriesPlans: SQLite without statistics finds due deliveries and deliveries in progress without reading what
// was sent: a sender asks before each few messages, while it holds the writer.
func TestDeliveriesPlans(t *testing.T) {
	url := storetest.SQLite(t)
	s, raw, ctx := storetest.Open(t, url), storetest.Raw(t, url), context.Background()
	people := enrol(t, s, "w-", 2)
	now := time.UnixMilli(time.Now().UnixMilli())
	w := loyalty.Webhook{
		ID: loyalty.NewID(now, loyalty.ID{}), Label: "CRM", URL: "https://crm.example.com/", Types: []string{"event.*"}, Ordered: true, Version: "2026-11",
		Format: "json", Concurrency: 8, State: loyalty.WebhookActive, Health: loyalty.WebhookHealth{Pace: 8}, CreatedAt: now, UpdatedAt: now,
	}

	require.NoError(t, s.Change(ctx, func(tx loyalty.AdminTx) error { return tx.(loyalty.WebhookAdminTx).SaveWebhook(w) }))
	asked := map[string]int{}
	tell := func(sql string, parameters []any) { asked[sql] = len(parameters) }
	require.NoError(t, s.OnWrite(tell))
	require.NoError(t, s.OnRead(tell))

	f := loyalty.FanOut{Through: 4, Deliveries: map[loyalty.ID][]loyalty.Delivery{}}
	for n := range 4 {
		f.Deliveries[w.ID] = append(f.Deliveries[w.ID], loyalty.Delivery{
			Webhook: w.ID, Sequence: int64(n + 1), Customer: people[n%2], Event: loyalty.NewID(now, loyalty.ID{}), Type: "event.point_add",
			State: loyalty.DeliveryWaiting, NextAt: now, CreatedAt: now,
		})
	}

	done, err := s.FanOut(ctx, f)
	require.NoError(t, err)
	require.True(t, done)
	due, err := s.DueWebhooks(ctx, now)
	require.NoError(t, err)
	require.Equal(t, []loyalty.ID{w.ID}, due)
	owner := loyalty.NewID(now, loyalty.ID{})
	for n, probe := range []bool{true, false} {
		var list []loyalty.Delivery
		require.NoError(t, s.WorkWebhook(ctx, w.ID, func(tx loyalty.WebhookTx) (err error) {
			leased, err := tx.Leased(now)
			require.NoError(t, err)
			require.Zero(t, leased)
			list, err = tx.Claim(owner, now, now.Add(time.Minute), 2, probe)
			return err
		}))

		require.Len(t, list, 2)
		require.NoError(t, s.WorkWebhook(ctx, w.ID, func(tx loyalty.WebhookTx) error {
			leased, err := tx.Leased(now)
			require.NoError(t, err)
			require.Equal(t, 2, leased)
			held, err := tx.Held(owner, []int64{list[0].Number, list[1].Number})
			require.NoError(t, err)
			require.Len(t, held, 2)
			var settled []loyalty.Settled
			for _, d := range list {
				d.State, d.Attempts, d.LastAt, d.LastStatus = loyalty.DeliverySent, 1, now, 204
				settled = append(settled, loyalty.Settled{Delivery: d, Attempt: loyalty.Attempt{At: now, Status: 204}})
			}
			return tx.Settle(settled)
		}))

		backlogs, err := s.Backlogs(ctx)
		require.NoError(t, err)
		require.Equal(t, int64(2-2*n), backlogs[w.ID].Waiting)
	}

	looked := 0
	for text, parameters := range asked {
		if !strings.Contains(text, "deliveries") || strings.HasPrefix(text, "INSERT INTO") {
			continue
		}
		looked++
		rows, err := raw.Query("EXPLAIN QUERY PLAN "+text, make([]any, parameters)...)
		require.NoError(t, err, text)
		for _, step := range planSteps(t, rows) {
			assert.False(t, strings.HasSuffix(step.text, "USING PRIMARY KEY (webhook_id=?)") || strings.HasPrefix(step.text, "SCAN deliveries"), "%s: %s", step.text, text)
		}
	}

	require.GreaterOrEqual(t, looked, 7)
}
