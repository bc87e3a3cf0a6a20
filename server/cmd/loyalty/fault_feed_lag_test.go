//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// followed is how long after they were recorded the events of a stream came to who follows it,
// until ctx ends.
func followed(ctx context.Context, t *testing.T, g *ground, address string, came func(time.Duration)) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/events/feed?after=now", nil)
	require.NoError(t, err)
	r.Header.Set("Accept", "text/event-stream")
	c := newWarehouse(t, g.key).client
	response, err := c.Do(r)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode)
	go func() {
		defer response.Body.Close()
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			text, ok := strings.CutPrefix(lines.Text(), "data: ")
			if !ok {
				continue
			}
			var row struct {
				RecordedAt time.Time `json:"recorded_at"`
			}
			if err := json.Unmarshal([]byte(text), &row); err != nil {
				t.Error(err)
			}
			came(time.Since(row.RecordedAt))
		}

		if err := lines.Err(); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}()
}

// TestFaultFeedLag has events come at a steady pace, in full 500 a second on SQLite and 2,000 on
// PostgreSQL, and follows the feed (W3). How long after it was recorded an event is there is
// told, and asserted nowhere.
func TestFaultFeedLag(t *testing.T) {
	measures(t)
	onBoth(t, durablePostgres, func(t *testing.T, g *ground) {
		rate, atOnce := 2000, 5 // so that clients and server find room on two processors
		if strings.HasPrefix(g.url, "sqlite:") {
			rate, atOnce = 500, 1
		}

		c, s := newCaller(t, g.key), g.start(t)
		const customers = 250
		pile(t, c, s.address, customers, customers, customers)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var mu sync.Mutex
		var lags []time.Duration
		followed(ctx, t, g, s.address, func(lag time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			lags = append(lags, lag)
		})

		seconds := full(t, 3, 60)
		sent := steadily(t, g, s.address, customers, rate, atOnce, time.Duration(seconds)*time.Second)
		require.Eventually(t, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(lags) >= sent
		}, patience, 50*time.Millisecond)

		mu.Lock()
		defer mu.Unlock()
		slices.Sort(lags)
		t.Logf("figures: W3: %d events in %d s (%d a second were wanted): from the journal to who follows the feed p50 %s, p95 %s, most %s",
			sent, seconds, rate, part(lags, 0.5), part(lags, 0.95), part(lags, 1))
		stop()
		require.Equal(t, 0, s.stop(terminate), s.log())
	})
}
