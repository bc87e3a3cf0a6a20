package ratelimit

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestRedisGivesMemorysHeaders sends the same requests at the same instants
// to both. Redis' binary seconds (in 2026 a step is 60 ns) may be off by one
// step a request while a key never rests, at most 6 µs in 90 requests. So each
// request arrives 10 µs further off the beat than the one before: none is near
// enough to a limit for that to decide.
func TestRedisGivesMemorysHeaders(t *testing.T) {
	c, server := newClock(), startMiniredis(t)
	server.ClockTTL(true)
	shared := openRedis(t, server.Addr(), c)
	own := NewMemory(c.Now)
	checked := 0
	rapid.Check(t, func(t *rapid.T) {
		checked++
		key := strconv.Itoa(checked)
		perMinute := rapid.SampledFrom([]int{1, 60, 600, DefaultPerMinute, 1200, 6000}).Draw(t, "perMinute")
		interval := 60_000 / perMinute // milliseconds
		for i, gap := range rapid.SliceOfN(rapid.IntRange(0, 3*interval), 1, 90).Draw(t, "gaps") {
			if i%3 > 0 {
				gap = 0
			}

			c.Add(time.Duration(gap)*time.Millisecond + 10*time.Microsecond)
			server.SetTime(c.Now())
			// All of a rested bucket at once is left out: whether Redis' binary seconds
			// give the last of them is chance, and a server asks for one first.
			n := rapid.IntRange(1, max(1, min(perMinute-1, 40))).Draw(t, "n")
			want, err := own.Allow(context.Background(), key, perMinute, n)
			require.NoError(t, err)
			got, err := shared.Allow(context.Background(), key, perMinute, n)
			require.NoError(t, err)
			require.Equal(t, headersOf(want), headersOf(got), i)
			require.Equal(t, want.Allowed, got.Allowed, i)
			require.InDelta(t, want.Reset, got.Reset, float64(6*time.Microsecond), i)
			require.InDelta(t, want.RetryAfter, got.RetryAfter, float64(6*time.Microsecond), i)
		}
	})
}

func headersOf(v Verdict) http.Header {
	h := http.Header{}
	v.SetHeaders(h)
	return h
}

func TestNodesShareOneCount(t *testing.T) {
	server := startMiniredis(t)
	a, b := openRedis(t, server.Addr(), newClock()), openRedis(t, server.Addr(), newClock())
	for i := range 10 {
		require.Equal(t, i < 5, allow(t, []Limiter{a, b}[i%2], "k", 5, 1).Allowed, i)
	}
	require.Equal(t, []string{"rate:loyalty:k"}, server.Keys())
}

func TestCallerWhoHangsUpIsCounted(t *testing.T) {
	server := startMiniredis(t)
	l := openRedis(t, server.Addr(), newClock())
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	v, err := l.Allow(gone, "k", 1, 1)
	require.NoError(t, err)
	require.True(t, v.Allowed)
	require.False(t, allow(t, l, "k", 1, 1).Allowed)
	require.Zero(t, l.retry.Load(), "taken for a failure of Redis")
}

func TestRedisFailureIsNeverOpen(t *testing.T) {
	for name, fail := range map[string]func(*miniredis.Miniredis){
		"gone":    func(s *miniredis.Miniredis) { s.Close() },
		"loading": func(s *miniredis.Miniredis) { s.SetError("LOADING Redis is loading the dataset in memory") },
	} {
		t.Run(name, func(t *testing.T) {
			server, c, log := startMiniredis(t), newClock(), &logBuffer{}
			l := openRedisLog(t, server.Addr(), c, log)
			require.True(t, allow(t, l, "k", 2, 1).Allowed)
			fail(server)
			for i := range 20 {
				require.Equal(t, i < 2, allow(t, l, "k", 2, 1).Allowed, i)
			}
			require.Equal(t, 1, log.count("Redis does not answer"))
		})
	}
}

func TestRedisOutageAndRecovery(t *testing.T) {
	server, c, log := startMiniredis(t), newClock(), &logBuffer{}
	l := openRedisLog(t, server.Addr(), c, log)
	server.SetError("MASTERDOWN Link with MASTER is down")
	allow(t, l, "k", 2, 1)
	commands := server.CommandCount()
	for range 10 {
		allow(t, l, "k", 2, 1)
	}

	require.Equal(t, commands, server.CommandCount(), "Redis was asked during the pause")
	for range 119 { // two minutes of outage, one try each second
		c.Add(pause)
		allow(t, l, "k", 2, 1)
	}

	require.Equal(t, 2, log.count("Redis does not answer"), "once a minute")
	require.Zero(t, log.count("answers again"))

	server.SetError("")
	allow(t, l, "fresh", 5, 1)
	require.False(t, server.Exists("rate:loyalty:fresh"), "still in the pause")
	c.Add(pause)
	for range 3 {
		allow(t, l, "fresh", 5, 1)
	}

	require.True(t, server.Exists("rate:loyalty:fresh"))
	require.Zero(t, l.retry.Load())
	require.Equal(t, 1, log.count("answers again"))
}

// TestSilentRedis: a server that takes connections and never speaks delays
// one request by the timeout, not every request and not for ever.
func TestSilentRedis(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	log := &logBuffer{}
	l := openRedisWait(t, silent.Addr().String(), newClock(), log, redisTimeout)
	for i := range 1000 {
		require.Equal(t, i < 3, allow(t, l, "k", 3, 1).Allowed, i)
	}
	require.Equal(t, 1, log.count("Redis does not answer"))
}

func TestRedisAddressIsRefusedWithoutItsPassword(t *testing.T) {
	for _, address := range []string{"", "localhost:6379", "http://x", "redis://:s3cret@host:port/0", "redis://:s3cret@host/nine", "redis://:s3cret%zz@host"} {
		_, err := NewRedis(address, NewMemory(time.Now), slog.Default())
		require.ErrorIs(t, err, ErrRedisURL, address)
		require.NotContains(t, err.Error(), "s3cret")
	}
}

func startMiniredis(t *testing.T) *miniredis.Miniredis {
	t.Helper()
	server := miniredis.NewMiniRedis()
	require.NoError(t, server.StartAddr("127.0.0.1:0"))
	t.Cleanup(server.Close)
	return server
}

func openRedis(t *testing.T, address string, c *clock) *Redis {
	t.Helper()
	log := &logBuffer{}
	t.Cleanup(func() { require.Empty(t, log.String(), "the fallback answered instead of Redis") })
	return openRedisLog(t, address, c, log)
}

// openRedisLog waits as long as a machine that has other things to do may take: how long is waited
// for a silent server is TestSilentRedis' matter.
func openRedisLog(t *testing.T, address string, c *clock, log *logBuffer) *Redis {
	t.Helper()
	return openRedisWait(t, address, c, log, time.Minute)
}

func openRedisWait(t *testing.T, address string, c *clock, log *logBuffer, wait time.Duration) *Redis {
	t.Helper()
	l, err := newRedis("redis://"+address, NewMemory(c.Now), slog.New(slog.NewTextHandler(log, nil)), wait)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

// startRedisServer runs the machine's redis-server on a free loopback port.
func startRedisServer(t *testing.T) (address string) {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("no redis-server on this machine")
	}

	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address = free.Addr().String()
	require.NoError(t, free.Close())
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	server := exec.Command(path, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait() // its exit says "killed", as meant
	})

	client := redis.NewClient(&redis.Options{Addr: address})
	defer client.Close()
	require.Eventually(t, func() bool { return client.Ping(context.Background()).Err() == nil }, time.Minute, 50*time.Millisecond)
	return address
}

// backdate lets time pass for a real server, whose clock cannot be set: every
// stored arrival time moves into the past instead.
func backdate(t *testing.T, address string, d time.Duration) {
	t.Helper()
	ctx := context.Background()
	client := redis.NewClient(&redis.Options{Addr: address})
	defer client.Close()
	keys, err := client.Keys(ctx, "rate:"+keyPrefix+"*").Result()
	require.NoError(t, err)
	for _, key := range keys {
		tat, err := client.Get(ctx, key).Float64()
		require.NoError(t, err)
		require.NoError(t, client.Set(ctx, key, strconv.FormatFloat(tat-d.Seconds(), 'f', -1, 64), redis.KeepTTL).Err())
	}
}

// logBuffer keeps what was logged.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (b *logBuffer) count(text string) int { return strings.Count(b.String(), text) }
