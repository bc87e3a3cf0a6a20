// Package ratelimit decides how many requests a key may make.
//
// The rule is GCRA: the bucket of a key holds one minute of its limit, so that perMinute requests may come at once
// after a quiet minute, and one more is allowed every 60/perMinute seconds. There is no other burst. Memory counts on
// this node; Redis shares the count between nodes. Both give the same verdicts and the same headers.
//
// The package uses no database, so a refused request costs none.
package ratelimit

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// DefaultPerMinute is the limit of a key without its own: 1000 requests a minute over all endpoints together, as the
// specification demands.
const DefaultPerMinute = 1000

// MaxPerMinute is the largest limit, a million a second, for which the arithmetic certainly cannot overflow.
const MaxPerMinute = 60_000_000

// Limiter counts requests by key. It may be used by any number of goroutines.
type Limiter interface {
	// Allow counts n requests of key and decides whether all of them may go on. Refused requests are not counted.
	// perMinute is 1 to MaxPerMinute and n 1 to perMinute, because more could never be allowed; anything else is an
	// error, and its verdict allows nothing. There is no other error.
	Allow(ctx context.Context, key string, perMinute, n int) (Verdict, error)
}

// Verdict is the answer to one call of Allow.
type Verdict struct {
	Allowed    bool
	Limit      int           // requests a minute
	Remaining  int           // requests that would be allowed at once now
	Reset      time.Duration // until the full limit is available again
	RetryAfter time.Duration // until the requests would be allowed; 0 if Allowed
}

// SetHeaders writes RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset, and Retry-After on a refusal. Times are
// whole seconds, rounded up, so that a caller who obeys them is never refused for coming back too early.
func (v Verdict) SetHeaders(h http.Header) {
	values := []string{strconv.Itoa(v.Limit), strconv.Itoa(v.Remaining), wholeSeconds(v.Reset)}
	for i, name := range headers {
		h[name] = values[i : i+1 : i+1]
	}
	if !v.Allowed {
		h.Set("Retry-After", wholeSeconds(v.RetryAfter))
	}
}

// headers of every answer, as http.Header keeps their names.
var headers = [...]string{"Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset"}

func wholeSeconds(d time.Duration) string {
	return strconv.FormatInt(ceilDiv(int64(d), int64(time.Second)), 10)
}

func checkRule(perMinute, n int) error {
	if perMinute < 1 || perMinute > MaxPerMinute {
		return fmt.Errorf("limit: perMinute must be 1 to %d, not %d", MaxPerMinute, perMinute)
	}
	if n < 1 || n > perMinute {
		return fmt.Errorf("limit: requests at once must be 1 to %d, not %d", perMinute, n)
	}
	return nil
}
