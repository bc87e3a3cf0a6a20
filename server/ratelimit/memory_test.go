package ratelimit

import (
	"context"
	"math/big"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// textbook is GCRA as it is written down, with a theoretical arrival time in
// exact fractions: the judge of Memory's integers.
type textbook struct {
	tat, interval *big.Rat
	perMinute     int64
}

func newTextbook(perMinute int) *textbook {
	return &textbook{new(big.Rat), big.NewRat(int64(time.Minute), int64(perMinute)), int64(perMinute)}
}

func (g *textbook) allow(now int64, n int) (allowed bool, reset, retryAfter *big.Rat) {
	at := new(big.Rat).SetInt64(now)
	if g.tat.Cmp(at) < 0 {
		g.tat.Set(at)
	}
	next := new(big.Rat).Add(g.tat, new(big.Rat).Mul(g.interval, big.NewRat(int64(n), 1)))
	room := new(big.Rat).Mul(g.interval, big.NewRat(g.perMinute, 1))
	early := new(big.Rat).Sub(new(big.Rat).Sub(next, room), at)
	if early.Sign() > 0 {
		return false, new(big.Rat).Sub(g.tat, at), early
	}
	g.tat = next
	return true, new(big.Rat).Sub(next, at), new(big.Rat)
}

func ceil(r *big.Rat) time.Duration {
	q, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return time.Duration(q.Int64())
}

func drawLimit(t *rapid.T) int {
	return rapid.OneOf(rapid.IntRange(1, 20), rapid.Just(DefaultPerMinute), rapid.IntRange(1, MaxPerMinute)).Draw(t, "perMinute")
}

// drawCost is how many requests come at once: mostly one.
func drawCost(t *rapid.T, perMinute int) int {
	return rapid.OneOf(rapid.Just(1), rapid.IntRange(1, min(perMinute, 60)), rapid.IntRange(1, perMinute)).Draw(t, "n")
}

// drawGap likes gaps around the time one request takes to come back.
func drawGap(t *rapid.T, perMinute int) time.Duration {
	interval := int64(time.Minute) / int64(perMinute)
	return time.Duration(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 2*interval+1),
		rapid.Int64Range(max(interval-2, 0), interval+2), rapid.Int64Range(0, int64(1000*time.Hour))).Draw(t, "gap"))
}

func TestMemoryIsGCRA(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perMinute := drawLimit(t)
		c, start := newClock(), newClock().Now()
		m, judge := NewMemory(c.Now), newTextbook(perMinute)
		for range rapid.IntRange(1, 60).Draw(t, "requests") {
			c.Add(drawGap(t, perMinute))
			now := int64(c.Now().Sub(start))
			n := drawCost(t, perMinute)
			allowed, reset, retryAfter := judge.allow(now, n)
			v, err := m.Allow(context.Background(), "k", perMinute, n)
			require.NoError(t, err)
			require.Equal(t, allowed, v.Allowed)
			require.Equal(t, ceil(reset), v.Reset)
			require.Equal(t, ceil(retryAfter), v.RetryAfter)
		}
	})
}

// TestNeverMoreThanMinutePlusRate looks at every window between two allowed
// requests: a minute's worth at once, and what came back meanwhile.
func TestNeverMoreThanMinutePlusRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perMinute := rapid.IntRange(1, 20).Draw(t, "perMinute")
		c := newClock()
		m := NewMemory(c.Now)
		var allowed []time.Time
		for range rapid.IntRange(perMinute, 120).Draw(t, "requests") {
			c.Add(drawGap(t, perMinute))
			v, err := m.Allow(context.Background(), "k", perMinute, 1)
			require.NoError(t, err)
			if v.Allowed {
				allowed = append(allowed, c.Now())
			}
		}

		for i := range allowed {
			for j := i; j < len(allowed); j++ {
				beyond := big.NewInt(int64(j-i+1-perMinute) * cost)
				earned := new(big.Int).Mul(big.NewInt(int64(allowed[j].Sub(allowed[i]))), big.NewInt(int64(perMinute)))
				require.LessOrEqual(t, beyond.Cmp(earned), 0, "requests %d to %d", i, j)
			}
		}
	})
}

// TestVerdictsAreTrue: exactly Remaining more pass now, RetryAfter is the
// first nanosecond at which one more does, and after Reset the minute is whole.
func TestVerdictsAreTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perMinute := rapid.IntRange(1, 30).Draw(t, "perMinute")
		c := newClock()
		m := NewMemory(c.Now)
		ask := func() Verdict {
			v, err := m.Allow(context.Background(), "k", perMinute, 1)
			require.NoError(t, err)
			return v
		}

		for range rapid.IntRange(0, 40).Draw(t, "before") {
			ask()
			c.Add(drawGap(t, perMinute))
		}

		for left := ask().Remaining; left > 0; left-- {
			v := ask()
			require.True(t, v.Allowed)
			require.Equal(t, left-1, v.Remaining)
		}

		refused := ask()
		require.False(t, refused.Allowed)
		require.Positive(t, refused.RetryAfter)
		c.Add(refused.RetryAfter - 1)
		require.False(t, ask().Allowed)
		c.Add(1)
		last := ask()
		require.True(t, last.Allowed)
		c.Add(last.Reset)
		require.Equal(t, perMinute-1, ask().Remaining)
	})
}

func TestMemoryExactWhileTimePasses(t *testing.T) {
	const callers, each, step = 8, 2000, time.Millisecond
	c := newClock()
	m := NewMemory(c.Now)
	start := c.Now()
	var allowed atomic.Int64
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range each {
				c.Add(step)
				if v, err := m.Allow(context.Background(), "k", 60, 1); err == nil && v.Allowed {
					allowed.Add(1)
				}
			}
		})
	}

	wg.Wait()
	// Asked far more often than it refills, so nothing earned is left unused.
	earned := int64(c.Now().Sub(start)) * 60 / cost
	require.InDelta(t, 60+earned, allowed.Load(), 1)
	require.LessOrEqual(t, allowed.Load(), 60+earned)
}

func TestClockStepsBack(t *testing.T) {
	c := newClock()
	m := NewMemory(c.Now)
	require.True(t, allow(t, m, "k", 1, 1).Allowed)
	c.Add(-time.Hour)
	v := allow(t, m, "k", 1, 1)
	require.False(t, v.Allowed)
	require.Equal(t, time.Minute, v.RetryAfter, "not an hour and a minute")
	c.Add(time.Hour + time.Minute)
	require.True(t, allow(t, m, "k", 1, 1).Allowed)
}

func TestIdleKeysAreDropped(t *testing.T) {
	const keys = 50_000
	c := newClock()
	m := NewMemory(c.Now)
	for i := range keys {
		allow(t, m, strconv.Itoa(i), DefaultPerMinute, 1)
	}

	require.Equal(t, keys, m.size())
	for i := range m.shards {
		require.Equal(t, len(m.shards[i].buckets), m.shards[i].high)
	}

	c.Add(time.Minute)
	for range 2 * shards {
		c.Add(sweepEvery)
		allow(t, m, "busy", DefaultPerMinute, 1)
	}

	require.Equal(t, 1, m.size())
	for i := range m.shards {
		require.LessOrEqual(t, m.shards[i].high, 1, "the memory of the flood was kept")
	}
}

func TestBusyKeysAreKept(t *testing.T) {
	c := newClock()
	m := NewMemory(c.Now)
	require.True(t, allow(t, m, "k", 1, 1).Allowed)
	for range 2 * shards {
		c.Add(sweepEvery)
		require.False(t, allow(t, m, "k", 1, 1).Allowed)
	}
}

func TestFloodOfKeysIsBounded(t *testing.T) {
	c := newClock()
	m := NewMemory(c.Now)
	m.perShard = samples // all of a shard is looked at: the outcome is certain
	for range DefaultPerMinute {
		require.True(t, allow(t, m, "at its limit", DefaultPerMinute, 1).Allowed)
	}
	for i := range 20_000 {
		require.True(t, allow(t, m, strconv.Itoa(i), DefaultPerMinute, 1).Allowed)
		require.LessOrEqual(t, m.size(), shards*samples)
	}
	require.Equal(t, shards*samples, m.size())
	require.False(t, allow(t, m, "at its limit", DefaultPerMinute, 1).Allowed)
}

func (m *Memory) size() int {
	n := 0
	for i := range m.shards {
		m.shards[i].mu.Lock()
		n += len(m.shards[i].buckets)
		m.shards[i].mu.Unlock()
	}
	return n
}

func BenchmarkMemoryAllow(b *testing.B) {
	m := NewMemory(time.Now)
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		_, _ = m.Allow(ctx, "key:LTAKEXAMPLE0000000001", DefaultPerMinute, 1)
	}
}

func BenchmarkMemoryAllowManyKeys(b *testing.B) {
	keys := make([]string, 100_000)
	for i := range keys {
		keys[i] = "key:" + strconv.Itoa(i)
	}
	m := NewMemory(time.Now)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			_, _ = m.Allow(context.Background(), keys[i%len(keys)], DefaultPerMinute, 1)
		}
	})
}
