//go:build unix

package main

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFaultKill kills the program under load, again and again (R1, R7): what was
// acknowledged stays, and what is repeated with its key happens once.
func TestFaultKill(t *testing.T) {
	onBoth(t, durablePostgres, func(t *testing.T, g *ground) { killed(t, newLoad(t, g), full(t, 2, 250)) })
}

// TestFaultKillOfACrowd does so under so many callers that two batches are under way at once (R1).
func TestFaultKillOfACrowd(t *testing.T) {
	onBoth(t, durablePostgres, func(t *testing.T, g *ground) {
		l := newLoad(t, g)
		l.widen(96, 200)
		killed(t, l, full(t, 1, 50))
	})
}

func killed(t *testing.T, l *load, n int) {
	var restart time.Duration
	for i := range n {
		began := time.Now()
		s := l.g.start(t)
		restart = max(restart, time.Since(began))
		if i == 0 {
			l.open(s.address)
		} else {
			l.resume(s.address)
		}
		l.run(s.address)
		l.progress(100)
		time.Sleep(dice.within(500 * time.Millisecond))
		require.Equal(t, -1, s.stop(os.Kill), s.log())
		l.stop()
	}

	s := l.g.start(t)
	l.resume(s.address)
	mustHold(t, l.check(s.address, 1))
	require.Equal(t, 0, s.stop(terminate), s.log())
	require.Positive(t, l.book.silent, "no request was under way when the program was killed")
	t.Logf("figures: R1: %d callers, %d kills, slowest start %s; %s", len(l.callers), n, restart.Round(time.Millisecond), l.book)
}

// TestFaultStop stops the program in good order under load (R16): what it took
// it answers, so what it did not answer has no effect.
func TestFaultStop(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		l, n := newLoad(t, g), rounds(t, 2)
		for i := range n {
			s := g.start(t)
			if i == 0 {
				l.open(s.address)
			}
			l.run(s.address)
			l.progress(100)
			time.Sleep(dice.within(200 * time.Millisecond))
			require.Equal(t, 0, s.stop(terminate), s.log())
			l.stop()
		}

		s := g.start(t)
		mustHold(t, l.check(s.address, 0))
		require.Equal(t, 0, s.stop(terminate), s.log())
		require.Zero(t, l.book.away, "a stopping server answers what it takes")
		t.Logf("figures: R16: %d stops; %s", n, l.book)
	})
}
