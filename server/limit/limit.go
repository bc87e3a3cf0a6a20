// Package limit decides how many requests a key may make.
//
// The rule is GCRA: a key may make burst requests at once, and gets one more
// every 60/perMinute seconds. Over any window the number allowed is at most
// burst + perMinute × minutes. Memory counts on this node; Redis shares the
// count between nodes. Both give the same verdicts and the same headers.
//
// The package knows no database, so a refused request costs none.
package limit

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// The rule for a key without its own: 1000 requests a minute over all
// endpoints together, as the specification's limits say, 100 of them at once.
const (
	DefaultPerMinute = 1000
	DefaultBurst     = 100
)

// The largest settings for which the arithmetic cannot overflow, with room.
const (
	MaxPerMinute = 60_000_000 // a million a second
	MaxBurst     = 1_000_000
)

// Limiter counts requests by key. It may be used by any number of goroutines.
type Limiter interface {
	// Allow counts one request of key and says whether it may go on. A refused
	// request is not counted. perMinute is 1 to MaxPerMinute and burst 1 to
	// MaxBurst; anything else is an error, and its verdict allows nothing.
	// There is no other error.
	Allow(ctx context.Context, key string, perMinute, burst int) (Verdict, error)
}

// Verdict is the answer to one request.
type Verdict struct {
	Allowed    bool
	Limit      int           // requests a minute
	Remaining  int           // requests that would be allowed at once now
	Reset      time.Duration // until the whole burst is there again
	RetryAfter time.Duration // until the next request is allowed; 0 when Allowed
}

// SetHeaders writes RateLimit-Limit, RateLimit-Remaining and RateLimit-Reset,
// and Retry-After on a refusal. Times are whole seconds, rounded up, so that a
// caller who obeys them is never refused for coming back too early.
func (v Verdict) SetHeaders(h http.Header) {
	h.Set("RateLimit-Limit", strconv.Itoa(v.Limit))
	h.Set("RateLimit-Remaining", strconv.Itoa(v.Remaining))
	h.Set("RateLimit-Reset", wholeSeconds(v.Reset))
	if !v.Allowed {
		h.Set("Retry-After", wholeSeconds(v.RetryAfter))
	}
}

func wholeSeconds(d time.Duration) string {
	return strconv.FormatInt(ceilDiv(int64(d), int64(time.Second)), 10)
}

func checkRule(perMinute, burst int) error {
	if perMinute < 1 || perMinute > MaxPerMinute {
		return fmt.Errorf("limit: perMinute must be 1 to %d, not %d", MaxPerMinute, perMinute)
	}
	if burst < 1 || burst > MaxBurst {
		return fmt.Errorf("limit: burst must be 1 to %d, not %d", MaxBurst, burst)
	}
	return nil
}
