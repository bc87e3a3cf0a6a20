package ratelimit

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	redisTimeout = 100 * time.Millisecond // for one decision: a limiter must not slow requests down
	pause        = time.Second            // after a failure requests skip Redis for this time, then one request tries
	logEvery     = time.Minute
	keyPrefix    = "loyalty:" // other programs may use the same Redis
)

// ErrRedisURL means that a Redis address cannot be read. It does not repeat the address, which may hold a password.
var ErrRedisURL = errors.New("not a Redis address like redis://user:password@host:6379/0 or rediss://…")

// Redis limits over all nodes that share one Redis. While Redis does not answer, the node's own Memory decides: the
// limit then holds per node and is never open. It tries again every second and recovers by itself.
type Redis struct {
	client *redis.Client
	rate   *redis_rate.Limiter
	memory *Memory
	log    *slog.Logger
	retry  atomic.Int64  // when Redis may be tried again; 0 while it works
	quiet  atomic.Int64  // no warning before this instant
	wait   time.Duration // for one decision
	warned atomic.Bool   // the outage was logged, so its end is too
}

// pingTime is how long Ping waits for an answer.
const pingTime = 2 * time.Second

// Ping checks whether the Redis at address answers. It fails with ErrRedisURL.
func Ping(ctx context.Context, address string) error {
	options, err := redis.ParseURL(address)
	if err != nil {
		return ErrRedisURL
	}
	options.DialTimeout, options.MaxRetries, options.DialerRetries = pingTime, -1, 1
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	logging.Disable()
	client := redis.NewClient(options)
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	return errors.Join(client.Ping(ctx).Err(), client.Close())
}

// NewRedis makes a limiter for the Redis at address, with memory as the fallback and the source of time for pauses. It
// does not connect, so that a node starts while Redis is down. It fails with ErrRedisURL. Close it after use.
func NewRedis(address string, memory *Memory, log *slog.Logger) (*Redis, error) {
	return newRedis(address, memory, log, redisTimeout)
}

func newRedis(address string, memory *Memory, log *slog.Logger, wait time.Duration) (*Redis, error) {
	options, err := redis.ParseURL(address)
	if err != nil {
		return nil, ErrRedisURL
	}

	options.DialTimeout = wait
	options.ReadTimeout = wait
	options.WriteTimeout = wait
	options.PoolTimeout = wait
	options.ContextTimeoutEnabled = true
	options.MaxRetries = -1 // the fallback replaces retries
	options.DialerRetries = 1
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	logging.Disable() // go-redis writes every failed dial to stderr; this log reports it once a minute
	client := redis.NewClient(options)
	return &Redis{client: client, rate: redis_rate.NewLimiter(client), memory: memory, log: log, wait: wait}, nil
}

// Close ends the connections.
func (r *Redis) Close() error { return r.client.Close() }

// Allow implements Limiter.
func (r *Redis) Allow(ctx context.Context, key string, perMinute, n int) (Verdict, error) {
	if err := checkRule(perMinute, n); err != nil {
		return Verdict{}, err
	}
	if !r.mayTry() {
		return r.memory.Allow(ctx, key, perMinute, n)
	}
	v, err := r.ask(ctx, key, perMinute, n)
	if err != nil {
		r.failed(err)
		return r.memory.Allow(ctx, key, perMinute, n)
	}
	r.recovered()
	return v, nil
}

func (r *Redis) ask(ctx context.Context, key string, perMinute, n int) (Verdict, error) {
	// A caller who hangs up is counted as well, and is no failure of Redis.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.wait)
	defer cancel()
	result, err := r.rate.AllowN(ctx, keyPrefix+key,
		redis_rate.Limit{Rate: perMinute, Burst: perMinute, Period: time.Minute}, n)
	if err != nil {
		return Verdict{}, err
	}
	return verdictOf(result, n), nil
}

// verdictOf turns redis_rate's answer into the one that Memory gives. Limit and reset mean the same, but Redis
// calculates in binary seconds: after one request it may report 98.9999 of 100 remaining, which it cuts to 98. So times
// are rounded to the microsecond, the resolution of Redis' clock, and the remaining requests are computed from them,
// with the half microsecond that rounding may have added in the caller's favour. The remaining drift is far below the
// whole seconds of the headers.
func verdictOf(result *redis_rate.Result, n int) Verdict {
	perMinute := int64(result.Limit.Rate)
	v := Verdict{
		Allowed: result.Allowed > 0,
		Limit:   result.Limit.Rate,
		Reset:   max(result.ResetAfter.Round(time.Microsecond), 0),
	}
	level := max(int64(v.Reset-time.Microsecond/2), 0) * perMinute
	v.Remaining = remaining(level, perMinute*cost)
	if !v.Allowed {
		v.RetryAfter = max(result.RetryAfter.Round(time.Microsecond), time.Microsecond)
		v.Remaining = min(v.Remaining, n-1) // otherwise they would have been allowed
	}
	return v
}

// mayTry reports whether this request should ask Redis: always while it works, else one request for each pause.
func (r *Redis) mayTry() bool {
	at := r.retry.Load()
	if at == 0 {
		return true
	}
	now := r.memory.elapsed()
	return now >= at && r.retry.CompareAndSwap(at, now+int64(pause))
}

func (r *Redis) recovered() {
	if r.retry.Load() == 0 {
		return
	}
	r.retry.Store(0)
	if r.warned.CompareAndSwap(true, false) {
		r.log.Info("rate limit: Redis answers again, the limit is shared between nodes")
	}
}

func (r *Redis) failed(err error) {
	now := r.memory.elapsed()
	r.retry.Store(now + int64(pause))
	quiet := r.quiet.Load()
	if now < quiet || !r.quiet.CompareAndSwap(quiet, now+int64(logEvery)) {
		return
	}
	r.warned.Store(true)
	r.log.Warn("rate limit: Redis does not answer, the limit holds per node", "error", err)
}
