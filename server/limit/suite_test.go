package limit

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

func TestBurstThenRate(t *testing.T) {
	forEachSubject(t, func(t *testing.T, s subject) {
		for i, step := range []struct {
			wait  time.Duration
			want  Verdict
			reset string
			retry string
		}{
			{0, Verdict{Allowed: true, Remaining: 2, Reset: 60 * time.Second}, "60", ""},
			{0, Verdict{Allowed: true, Remaining: 1, Reset: 120 * time.Second}, "120", ""},
			{0, Verdict{Allowed: true, Remaining: 0, Reset: 180 * time.Second}, "180", ""},
			{0, Verdict{Reset: 180 * time.Second, RetryAfter: 60 * time.Second}, "180", "60"},
			{29500 * time.Millisecond, Verdict{Reset: 150500 * time.Millisecond, RetryAfter: 30500 * time.Millisecond}, "151", "31"},
			{31 * time.Second, Verdict{Allowed: true, Remaining: 0, Reset: 179500 * time.Millisecond}, "180", ""},
			{0, Verdict{Reset: 179500 * time.Millisecond, RetryAfter: 59500 * time.Millisecond}, "180", "60"},
			{90 * time.Second, Verdict{Allowed: true, Remaining: 0, Reset: 149500 * time.Millisecond}, "150", ""},
			{time.Hour, Verdict{Allowed: true, Remaining: 2, Reset: 60 * time.Second}, "60", ""},
		} {
			s.advance(step.wait)
			got := allow(t, s, "k", 1, 3)
			step.want.Limit = 1
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

func TestBurstIsRaisedAndLowered(t *testing.T) {
	forEachSubject(t, func(t *testing.T, s subject) {
		require.True(t, allow(t, s, "k", 1, 1).Allowed)
		require.False(t, allow(t, s, "k", 1, 1).Allowed)
		require.Equal(t, 2, allow(t, s, "k", 1, 4).Remaining)
		lowered := allow(t, s, "k", 1, 1)
		require.False(t, lowered.Allowed)
		require.Zero(t, lowered.Remaining)
	})
}

// TestRestedKey: also where a request's share of a minute is no whole number
// of microseconds, one request leaves all the others.
func TestRestedKey(t *testing.T) {
	forEachSubject(t, func(t *testing.T, s subject) {
		for _, perMinute := range []int{1, 7, 13, 999, DefaultPerMinute, 1001, 700_000, MaxPerMinute} {
			v := allow(t, s, strconv.Itoa(perMinute), perMinute, DefaultBurst)
			require.Equal(t, DefaultBurst-1, v.Remaining, perMinute)
			require.InDelta(t, time.Minute/time.Duration(perMinute), v.Reset, float64(time.Microsecond), perMinute)
		}
	})
}

func TestRuleOutOfRange(t *testing.T) {
	forEachSubject(t, func(t *testing.T, s subject) {
		for _, rule := range [][2]int{{0, 1}, {-1, 1}, {MaxPerMinute + 1, 1}, {1, 0}, {1, -1}, {1, MaxBurst + 1}} {
			v, err := s.Allow(context.Background(), "k", rule[0], rule[1])
			require.Error(t, err, rule)
			require.Zero(t, v, rule)
		}
		_, err := s.Allow(context.Background(), "k", 1, 0)
		require.EqualError(t, err, "limit: burst must be 1 to 1000000, not 0")
		require.Equal(t, MaxBurst-1, allow(t, s, "k", MaxPerMinute, MaxBurst).Remaining)
	})
}

// TestExactUnderConcurrency: many at once get exactly the burst, no one more
// and no one less.
func TestExactUnderConcurrency(t *testing.T) {
	const burst, callers, each = 100, 8, 50
	forEachSubject(t, func(t *testing.T, s subject) {
		var allowed atomic.Int64
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				for range each {
					v, err := s.Allow(context.Background(), "k", 1, burst)
					if err == nil && v.Allowed {
						allowed.Add(1)
					}
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, burst, allowed.Load())
	})
}

func TestSetHeaders(t *testing.T) {
	for name, tc := range map[string]struct {
		verdict Verdict
		want    http.Header
	}{
		"allowed": {
			Verdict{Allowed: true, Limit: 1000, Remaining: 99, Reset: 60 * time.Millisecond},
			http.Header{"Ratelimit-Limit": {"1000"}, "Ratelimit-Remaining": {"99"}, "Ratelimit-Reset": {"1"}},
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

func allow(t *testing.T, l Limiter, key string, perMinute, burst int) Verdict {
	t.Helper()
	v, err := l.Allow(context.Background(), key, perMinute, burst)
	require.NoError(t, err)
	return v
}
