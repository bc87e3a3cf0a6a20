package ratelimit

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is time that only a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// subject is a limiter under test and the way to let time pass for it. A real
// server's clock also runs by itself: slack is how far times may be below the
// expected ones.
type subject struct {
	Limiter
	advance func(time.Duration)
	slack   time.Duration
}

// subjects are all limiters; each must pass the whole suite.
var subjects = map[string]func(*testing.T) subject{
	"memory": func(*testing.T) subject {
		c := newClock()
		return subject{Limiter: NewMemory(c.Now), advance: c.Add}
	},
	"miniredis": func(t *testing.T) subject {
		c, server := newClock(), startMiniredis(t)
		server.SetTime(c.Now())
		server.ClockTTL(true)
		advance := func(d time.Duration) {
			c.Add(d)
			server.SetTime(c.Now())
		}
		return subject{Limiter: openRedis(t, server.Addr(), c), advance: advance}
	},
	"redis-server": func(t *testing.T) subject {
		address := startRedisServer(t)
		return subject{
			Limiter: openRedis(t, address, newClock()),
			advance: func(d time.Duration) { backdate(t, address, d) },
			slack:   20 * time.Second,
		}
	},
}

func forEachSubject(t *testing.T, test func(*testing.T, subject)) {
	for name, open := range subjects {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func TestMinuteThenRate(t *testing.T) {
	forEachSubject(t, func(t *testing.T, s subject) {
		for i, step := range []struct {
			wait  time.Duration
			want  Verdict
			reset string
			retry string
		}{
			{0, Verdict{Allowed: true, Remaining: 2, Reset: 20 * time.Second}, "20", ""},
			{0, Verdict{Allowed: true, Remaining: 1, Reset: 40 * time.Second}, "40", ""},
			{0, Verdict{Allowed: true, Remaining: 0, Reset: 60 * time.Second}, "60", ""},
			{0, Verdict{Reset: 60 * time.Second, RetryAfter: 20 * time.Second}, "60", "20"},
			{9500 * time.Millisecond, Verdict{Reset: 50500 * time.Millisecond, RetryAfter: 10500 * time.Millisecond}, "51", "11"},
			{11 * time.Second, Verdict{Allowed: true, Remaining: 0, Reset: 59500 * time.Millisecond}, "60", ""},
			{0, Verdict{Reset: 59500 * time.Millisecond, RetryAfter: 19500 * time.Millisecond}, "60", "20"},
			{30 * time.Second, Verdict{Allowed: true, Remaining: 0, Reset: 49500 * time.Millisecond}, "50", ""},
			{time.Hour, Verdict{Allowed: true, Remaining: 2, Reset: 20 * time.Second}, "20", ""},
		} {
			s.advance(step.wait)
			got := allow(t, s, "k", 3, 1)
			step.want.Limit = 3
			if s.slack == 0 {
				require.Equal(t, step.want, got, i)
				h := headersOf(got)
				require.Equal(t, []string{step.reset, step.retry}, []string{h.Get("RateLimit-Reset"), h.Get("Retry-After")}, i)
				continue
			}
			require.Equal(t, step.want.Allowed, got.Allowed, i)
			require.Equal(t, step.want.Remaining, got.Remaining, i)
			requireUpTo(t, step.want.Reset, got.Reset, s.slack)
			requireUpTo(t, step.want.RetryAfter, got.RetryAfter, s.slack)
		}
	})
}

func requireUpTo(t *testing.T, want, got, slack time.Duration) {
	t.Helper()
	require.LessOrEqual(t, got, want)
	require.GreaterOrEqual(t, got, max(want-slack, 0))
}

func TestKeysAreApart(t *testing.T) {
	forEachSubject(t, func(t *testing.T, s subject) {
		require.True(t, allow(t, s, "a", 1, 1).Allowed)
		require.False(t, allow(t, s, "a", 1, 1).Allowed)
		require.True(t, allow(t, s, "b", 1, 1).Allowed)
		require.True(t, allow(t, s, "", 1, 1).Allowed)
	})
}

// TestSeveralAtOnce: n requests cost n, all or none; what is refused costs nothing,
// and Retry-After is when all of them fit.
func TestSeveralAtOnce(t *testing.T) {
	forEachSubject(t, func(t *testing.T, s subject) {
		require.Equal(t, 90, allow(t, s, "k", 100, 10).Remaining)
		require.Equal(t, 30, allow(t, s, "k", 100, 60).Remaining)
		refused := allow(t, s, "k", 100, 50)
		require.False(t, refused.Allowed)
		if s.slack == 0 {
			require.Equal(t, 30, refused.Remaining, "they are still there")
			require.Equal(t, 12*time.Second, refused.RetryAfter, "for the 20 that are missing")
		}
		require.True(t, allow(t, s, "k", 100, 30).Allowed)
		require.False(t, allow(t, s, "k", 100, 40).Allowed)
		s.advance(30 * time.Second)
		require.True(t, allow(t, s, "k", 100, 40).Allowed)
	})
}

func TestLimitIsRaisedAndLowered(t *testing.T) {
	forEachSubject(t, func(t *testing.T, s subject) {
		require.True(t, allow(t, s, "k", 1, 1).Allowed)
		require.False(t, allow(t, s, "k", 1, 1).Allowed)
		s.advance(time.Minute)
		require.Equal(t, 3, allow(t, s, "k", 4, 1).Remaining)
		require.Equal(t, 0, allow(t, s, "k", 4, 3).Remaining)
		lowered := allow(t, s, "k", 1, 1)
		require.False(t, lowered.Allowed)
		require.Zero(t, lowered.Remaining)
		require.LessOrEqual(t, lowered.Reset, time.Minute, "a bucket holds a minute of the limit, the lowered one too")
		require.LessOrEqual(t, lowered.RetryAfter, time.Minute)
		s.advance(time.Minute)
		require.True(t, allow(t, s, "k", 1, 1).Allowed)
	})
}

// TestRestedKey: also where a request's share of a minute is no whole number
// of microseconds, one request leaves all the others. RateLimit-Remaining is never
// above the limit.
func TestRestedKey(t *testing.T) {
	forEachSubject(t, func(t *testing.T, s subject) {
		for _, perMinute := range []int{1, 5, 7, 13, 150, 999, DefaultPerMinute, 1001, 60_000, 700_000, MaxPerMinute} {
			v := allow(t, s, strconv.Itoa(perMinute), perMinute, 1)
			require.Equal(t, perMinute-1, v.Remaining, perMinute)
			require.InDelta(t, time.Minute/time.Duration(perMinute), v.Reset, float64(time.Microsecond), perMinute)
		}
	})
}

func TestRuleOutOfRange(t *testing.T) {
	forEachSubject(t, func(t *testing.T, s subject) {
		for _, rule := range [][2]int{{0, 1}, {-1, 1}, {MaxPerMinute + 1, 1}, {1, 0}, {1, -1}, {1, 2}} {
			v, err := s.Allow(context.Background(), "k", rule[0], rule[1])
			require.Error(t, err, rule)
			require.Zero(t, v, rule)
		}
		_, err := s.Allow(context.Background(), "k", 5, 6)
		require.EqualError(t, err, "limit: requests at once must be 1 to 5, not 6")
		require.Equal(t, MaxPerMinute/2, allow(t, s, "k", MaxPerMinute, MaxPerMinute/2).Remaining)
	})
}

// TestExactUnderConcurrency: many at once get exactly the limit, no one more
// and no one less, but for what comes back while they ask.
func TestExactUnderConcurrency(t *testing.T) {
	const perMinute, callers, each = 6, 8, 50
	forEachSubject(t, func(t *testing.T, s subject) {
		var allowed atomic.Int64
		var wg sync.WaitGroup
		began := time.Now()
		for range callers {
			wg.Go(func() {
				for range each {
					v, err := s.Allow(context.Background(), "k", perMinute, 1)
					if err == nil && v.Allowed {
						allowed.Add(1)
					}
				}
			})
		}

		wg.Wait()
		most := int64(perMinute)
		if s.slack > 0 { // whose clock went on meanwhile
			most += int64(time.Since(began) / (time.Minute / perMinute))
		}

		require.GreaterOrEqual(t, allowed.Load(), int64(perMinute))
		require.LessOrEqual(t, allowed.Load(), most)
	})
}

func TestSetHeaders(t *testing.T) {
	for name, tc := range map[string]struct {
		verdict Verdict
		want    http.Header
	}{
		"allowed": {
			Verdict{Allowed: true, Limit: 1000, Remaining: 999, Reset: 60 * time.Millisecond},
			http.Header{"Ratelimit-Limit": {"1000"}, "Ratelimit-Remaining": {"999"}, "Ratelimit-Reset": {"1"}},
		},
		"refused": {
			Verdict{Limit: 1000, Reset: 6 * time.Second, RetryAfter: time.Nanosecond},
			http.Header{"Ratelimit-Limit": {"1000"}, "Ratelimit-Remaining": {"0"}, "Ratelimit-Reset": {"6"}, "Retry-After": {"1"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, headersOf(tc.verdict))
		})
	}
}

func allow(t *testing.T, l Limiter, key string, perMinute, n int) Verdict {
	t.Helper()
	v, err := l.Allow(context.Background(), key, perMinute, n)
	require.NoError(t, err)
	return v
}
