//go:build unix

package main

import (
	"bufio"
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// dropped opens so many streams of the feed at once, has each tell its first row, and goes
// away in the middle: the connection is cut, nothing is said.
func dropped(t *testing.T, g *ground, address string, atOnce int) {
	t.Helper()
	var wait sync.WaitGroup
	for i := range atOnce {
		wait.Go(func() {
			for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
				if drop(t, g, address, []string{"text/event-stream", "application/x-ndjson"}[i%2]) {
					return
				}
			}
			t.Error("no place becomes free for a stream")
		})
	}
	wait.Wait()
}

// drop says whether there was a place.
func drop(t *testing.T, g *ground, address, form string) bool {
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	c := newWarehouse(t, g.key).client
	defer c.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/events/feed?wait=25", nil)
	if err != nil {
		t.Error(err)
		return true
	}

	r.Header.Set("Accept", form)
	response, err := c.Do(r)
	if err != nil {
		t.Error(err)
		return true
	}
	defer response.Body.Close()

	if response.StatusCode == http.StatusServiceUnavailable { // those who left are noticed in a moment
		return false
	}

	line, err := bufio.NewReader(response.Body).ReadString('\n')
	if response.StatusCode != http.StatusOK || err != nil || line == "" {
		t.Errorf("%d %v %q", response.StatusCode, err, line)
	}

	return true
}

// TestFaultStreams: of a thousand streams that were opened and dropped nothing is left, neither
// a goroutine nor a descriptor.
func TestFaultStreams(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		g.env = append(g.env, "LOYALTY_MANAGE=127.0.0.1:0", "LOYALTY_LOG=text,info",
			"LOYALTY_POOL_READS=4") // a pool fills when it is needed: a small one is full before the first count
		s, c := g.start(t), newCaller(t, g.key)
		becomesReady(t, s, c)
		enrol(t, c, s.address, "member-1")
		at := managed(t, s)
		rest := func() (goroutines, descriptors float64) {
			f := scrape(t, at)
			goroutines, _ = f.value("go_goroutines")
			descriptors, _ = f.value("process_open_fds")
			return goroutines, descriptors
		}

		const atOnce, streams = 50, 1000
		const few = 10 // another request, a job and their files; one left by each round would be twice as many
		var goroutines, descriptors float64
		for range 10 { // what is opened when it is first needed (pools, journals) is open when a round adds nothing
			dropped(t, g, s.address, atOnce)
			time.Sleep(2 * time.Second)
			g1, d1 := rest()
			if g1 <= goroutines && d1 <= descriptors {
				break
			}
			goroutines, descriptors = max(g1, goroutines), max(d1, descriptors)
		}

		for range streams / atOnce {
			dropped(t, g, s.address, atOnce)
		}

		g2, d2 := rest()
		for until := time.Now().Add(patience); (g2 > goroutines+few || d2 > descriptors+few) && time.Now().Before(until); g2, d2 = rest() { // a job may be under way
			time.Sleep(100 * time.Millisecond)
		}

		require.LessOrEqual(t, g2, goroutines+few, "goroutines")
		require.LessOrEqual(t, d2, descriptors+few, "descriptors")
		t.Logf("figures: over %d streams goroutines %.0f → %.0f, descriptors %.0f → %.0f", streams, goroutines, g2, descriptors, d2)
		require.Equal(t, 0, s.stop(terminate), s.log())
	})
}
