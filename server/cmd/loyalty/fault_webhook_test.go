//go:build unix

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFaultWebhooks kills the program while it sends (W1): every event arrives, twice only
// with the same id, each customer's in order, and each message names the one before it.
func TestFaultWebhooks(t *testing.T) {
	onBoth(t, durablePostgres, func(t *testing.T, g *ground) {
		g.toInside()
		l, listener, kills := newLoad(t, g), newListener(t), full(t, 1, 100)
		for i := range kills {
			s := g.start(t)
			if i == 0 {
				listener.hooked(t, l.callers[0], s.address)
				l.open(s.address)
			} else {
				l.resume(s.address)
			}

			before := listener.count()
			l.run(s.address)
			l.progress(100)
			l.stop() // it takes in more than it sends
			for until := time.Now().Add(patience); listener.count() < before+20; time.Sleep(time.Millisecond) {
				require.True(t, time.Now().Before(until), "nothing is sent: %s", s.log())
			}

			time.Sleep(dice.within(300 * time.Millisecond))
			require.Equal(t, -1, s.stop(os.Kill), s.log())
		}

		s := g.start(t)
		l.resume(s.address)
		events := drained(t, g, 3*patience)
		mustHold(t, l.check(s.address, 1))
		require.Equal(t, 0, s.stop(terminate), s.log())
		listener.mu.Lock()
		defer listener.mu.Unlock()
		require.Empty(t, listener.wrong)
		require.Len(t, listener.seen, events)
		t.Logf("figures: W1: %d kills, %d events, each arrived, %d of them twice; %s", kills, events, listener.again, l.book)
	})
}

// TestFaultWebhookDrain has an address be away while events pile up, and then lets it come
// back (W2): they are sent in order. Then events come at a steady pace (W3). What it takes is
// told, and asserted nowhere.
func TestFaultWebhookDrain(t *testing.T) {
	measures(t)
	onBoth(t, durablePostgres, func(t *testing.T, g *ground) {
		g.toInside()
		listener, c, s := newListener(t), newCaller(t, g.key), g.start(t)
		listener.isDown(true)
		listener.hooked(t, c, s.address)
		const customers, atOnce = 250, 500
		want := full(t, 2000, 50_000)
		pile(t, c, s.address, customers, want, atOnce)
		listener.isDown(false)
		began := time.Now()
		for until := began.Add(10 * patience); listener.count() == 0; time.Sleep(time.Millisecond) {
			require.True(t, time.Now().Before(until), "it is not asked again")
		}

		back := time.Now()
		events := drained(t, g, 10*patience)
		took := time.Since(back)
		require.GreaterOrEqual(t, events, want)
		t.Logf("figures: W2: %d deliveries waited; asked again after %s, drained in %s: %.0f a second",
			events, back.Sub(began).Round(time.Millisecond), took.Round(time.Millisecond), float64(events)/took.Seconds())

		from, seconds := listener.count(), full(t, 3, 60)
		rate := 100
		if text := os.Getenv("TEST_RATE"); text != "" {
			_, err := fmt.Sscan(text, &rate)
			require.NoError(t, err)
		}

		sent := steadily(t, g, s.address, customers, rate, 1, time.Duration(seconds)*time.Second)
		drained(t, g, 10*patience)
		lags := listener.lags(from)
		t.Logf("figures: W3: %d events in %d s (%d a second were wanted): from the journal to the address p50 %s, p95 %s, most %s",
			sent, seconds, rate, part(lags, 0.5), part(lags, 0.95), part(lags, 1))
		listener.mu.Lock()
		defer listener.mu.Unlock()
		require.Empty(t, listener.wrong)
		require.Equal(t, 0, s.stop(terminate), s.log())
	})
}

// TestFaultWebhookCost sends events with ten webhooks at rest and at work, one after the other
// in one run (W4). What it costs is told, and asserted nowhere.
func TestFaultWebhookCost(t *testing.T) {
	measures(t)
	onBoth(t, durablePostgres, func(t *testing.T, g *ground) {
		g.toInside()
		g.env = append(g.env, "LOYALTY_MANAGE=127.0.0.1:0", "LOYALTY_LOG=text,info")
		listener, c, s := newListener(t), newCaller(t, g.key), g.start(t)
		becomesReady(t, s, c)
		at := managed(t, s)
		var paths []string
		for range 10 {
			paths = append(paths, listener.hooked(t, c, s.address))
		}

		listener.mu.Lock()
		listener.deaf = true
		listener.mu.Unlock()
		const customers = 250
		pile(t, c, s.address, customers, customers, customers)
		turn := func(what, body string) {
			for _, path := range paths {
				a := c.post(s.address, path+"/"+what, body, "")
				require.Equal(t, http.StatusOK, a.status, string(a.body))
			}
		}

		pairs, each := full(t, 1, 5), time.Duration(full(t, 1, 10))*time.Second
		var without, with, messages, restCPU, workCPU, shares []float64
		// processor time of the program for an event, in microseconds
		timed := func() (events int, cpu float64) {
			before := cpuOf(t, s.cmd.Process.Pid)
			events = flatOut(t, g, s.address, customers, each)
			return events, float64((cpuOf(t, s.cmd.Process.Pid) - before).Microseconds()) / float64(max(events, 1))
		}

		told := func() int {
			listener.mu.Lock()
			defer listener.mu.Unlock()
			return listener.heard
		}

		for range pairs {
			turn("pause", "{}")
			events, cpu := timed()
			without, restCPU = append(without, float64(events)/each.Seconds()), append(restCPU, cpu)
			turn("resume", `{"skip":true}`)
			before, file, profiled := told(), filepath.Join(t.TempDir(), "profile"), make(chan error, 1)
			go func() {
				profiled <- download(fmt.Sprintf("%s/debug/pprof/profile?seconds=%d", at, max(1, int(each.Seconds())-1)), file)
			}()
			events, cpu = timed()
			require.NoError(t, <-profiled)
			shares = append(shares, shareOf(t, file, `loyalty/webhook\.`))
			with, workCPU = append(with, float64(events)/each.Seconds()), append(workCPU, cpu)
			messages = append(messages, float64(told()-before)/each.Seconds())
		}

		t.Logf("figures: W4: events a second with ten webhooks at rest %.0f, at work %.0f, which are %.0f messages a second; processor time of the program for an event, µs: %.0f and %.0f, of which the webhooks' at work is percent %.1f",
			without, with, messages, restCPU, workCPU, shares)
		require.Equal(t, 0, s.stop(terminate), s.log())
	})
}

// cpuOf is the processor time that a process has taken; 0 where there is no /proc.
func cpuOf(t *testing.T, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}

	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	require.Greater(t, len(fields), 12)
	var ticks int64
	for _, f := range fields[11:13] { // user and system, in hundredths of a second
		n, err := strconv.ParseInt(f, 10, 64)
		require.NoError(t, err)
		ticks += n
	}

	return time.Duration(ticks) * 10 * time.Millisecond
}
