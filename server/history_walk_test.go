package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// eventsToWalk is how long the list is: 2,000 events, 100,000 at LOYALTY_TORTURE=500.
func eventsToWalk(t *testing.T) int {
	text := os.Getenv("LOYALTY_TORTURE")
	if text == "" {
		return 2_000
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, "LOYALTY_TORTURE is a number")
	return max(2_000, n*200)
}

// journal writes n events of a customer into the store, some of them dated back.
func (h *house) journal(name string, n int) {
	h.t.Helper()
	ctx, now := context.Background(), time.Now().UTC().Truncate(time.Millisecond).Add(-time.Minute)
	c, err := h.store.Customer(ctx, name)
	require.NoError(h.t, err)
	last := c.LastEvent
	var events []loyalty.Event
	for i := range n {
		last = loyalty.NewID(now, last)
		e := loyalty.Event{ID: last, Customer: c.ID, Action: "visit", At: now, RecordedAt: now, Data: json.RawMessage(`{"url":"https://shop.test/a"}`)}
		if i%7 == 0 {
			e.At = now.Add(-time.Duration(i) * time.Second)
		}
		if now = now.Add(time.Duration(i%3) * time.Millisecond); now.After(time.Now()) {
			now = time.Now().UTC().Truncate(time.Millisecond)
		}

		if events = append(events, e); len(events) == 1000 || i == n-1 {
			require.NoError(h.t, h.store.Within(ctx, loyalty.Needs{Now: now}, func(*loyalty.Loaded) (*loyalty.Writes, error) {
				return &loyalty.Writes{Events: events}, nil
			}))
			events = nil
		}
	}
}

// TestWalkWhileWriting follows next through a long list while events are added, and
// previous back: what was there at the start comes exactly once, each way.
func TestWalkWhileWriting(t *testing.T) {
	n := eventsToWalk(t)
	limit := max(50, n/100) // a hundred pages
	storetest.EachURL(t, func(t *testing.T, u string) {
		h := openOn(t, u)
		for _, c := range []string{"member-1001", "member-1002"} {
			h.enrol(c)
			h.journal(c, n/2)
		}

		var stop atomic.Bool
		var written atomic.Int64
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for i := 0; !stop.Load(); i++ {
				data := []string{`{"url":"https://shop.test/b"}`, `{"url":"https://shop.test/b","effective_timestamp":"2026-01-01"}`}[i%3%2]
				_, err := h.engine.Submit(context.Background(), loyalty.Submission{
					Customer: fmt.Sprint("member-100", 1+i%2), Action: "visit", Data: json.RawMessage(data),
				})
				if err == nil {
					written.Add(1)
				}
				time.Sleep(time.Millisecond)
			}
		}()
		defer func() { stop.Store(true); <-ended }()

		for _, list := range []string{
			"/customers/-/events?limit=%d", "/customers/member-1001/events?limit=%d", "/customers/-/events?sort=date&order=desc&limit=%d",
			"/customers/-/events?action=visit&action=opt_in&limit=%d", "/v1/customers/member-1002/events?limit=%d",
		} {
			there := h.recordedNow(list)
			before := written.Load()
			require.Eventually(t, func() bool { return written.Load() > before }, time.Minute, time.Millisecond, "somebody writes meanwhile")
			before = written.Load()
			walked, last := h.walk(fmt.Sprintf(list, limit), "id")
			requireOnce(t, there, walked, list)
			requireOnce(t, there, h.back(last, "id"), list)
			require.Eventually(t, func() bool { return written.Load() > before }, time.Minute, time.Millisecond, "somebody still writes")
		}
	})
}

// recordedNow are the ids of what a list has at this moment, read in one statement.
func (h *house) recordedNow(list string) []string {
	h.t.Helper()
	q := loyalty.EventQuery{Page: loyalty.Page{Limit: 1 << 30}}
	for _, name := range []string{"member-1001", "member-1002"} {
		if !strings.Contains(list, name) {
			continue
		}
		c, err := h.store.Customer(context.Background(), name)
		require.NoError(h.t, err)
		q.Customer = c.ID
	}

	page, err := h.store.Events(context.Background(), q)
	require.NoError(h.t, err)
	ids := make([]string, len(page.Events))
	for i := range page.Events {
		ids[i] = page.Events[i].ID.String()
	}

	return ids
}

// requireOnce wants every id exactly once among those that were met, and none met
// twice.
func requireOnce(t *testing.T, there, met []string, list string) {
	t.Helper()
	times := make(map[string]int, len(met))
	for _, id := range met {
		times[id]++
		require.Equal(t, 1, times[id], "%s: %s came twice", list, id)
	}
	for _, id := range there {
		require.Equal(t, 1, times[id], "%s: %s is missing", list, id)
	}
}
