package server

import (
	"cmp"
	"math"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/ratelimit"
)

// limitRate counts a signed request on its key. It runs before later refusals, so that each answer to a signed request
// shows what is left.
func (s *Server) limitRate(c *gin.Context) {
	key := api.RequestOf(c).Key
	verdict, err := s.limiter.Allow(c.Request.Context(), key.ID, perMinute(key), 1)
	if err != nil {
		s.fail(c, err)
		return
	}
	verdict.SetHeaders(c.Writer.Header())
	if !verdict.Allowed {
		s.exhausted.Store(key.ID, exhaustion{verdict, s.clock().Add(verdict.RetryAfter)})
		s.tooMany(c, verdict)
	}
}

// exhaustion is the answer that a key got when its limit was used up, and the instant until which no further request
// can be allowed.
type exhaustion struct {
	ratelimit.Verdict
	until time.Time
}

// spent refuses a request of a key whose limit is known to be used up, before any of its body is read. The signature is
// not verified yet, so nothing is counted. A caller who knows the key's id may learn that its limit is used up, and
// until when; the key's owner was told the same.
func (s *Server) spent(c *gin.Context, key *loyalty.AccessKey) {
	found, ok := s.exhausted.Load(key.ID)
	if !ok || c.Request.ContentLength == 0 {
		return
	}

	known := found.(exhaustion)
	left := known.until.Sub(s.clock())
	if left <= 0 || known.Limit != perMinute(key) {
		s.exhausted.CompareAndDelete(key.ID, found)
		return
	}

	known.Reset -= known.RetryAfter - left
	known.RetryAfter = left
	closeUnread(c)
	s.tooMany(c, known.Verdict)
}

// perMinute is the limit of a key.
func perMinute(k *loyalty.AccessKey) int { return cmp.Or(k.RateLimit, ratelimit.DefaultPerMinute) }

// chargeBulk counts the events of a bulk on its key, so that sending events together gives no more than sending them
// one by one. The request was counted before and stands for the first event. All events are counted or none. A bulk of
// more events than the limit could never pass, so it takes the whole limit of a minute.
func (s *Server) chargeBulk(c *gin.Context, events int) error {
	key := api.RequestOf(c).Key
	most := perMinute(key)
	further := min(events, most) - 1
	if further < 1 {
		return nil
	}

	verdict, err := s.limiter.Allow(c.Request.Context(), key.ID, most, further)
	if err != nil {
		return err
	}
	if !verdict.Allowed {
		verdict.RetryAfter += time.Minute / time.Duration(most) // the request is counted again then, before its events
	}

	verdict.SetHeaders(c.Writer.Header())
	if !verdict.Allowed {
		return tooMany(verdict)
	}

	return nil
}

func (s *Server) tooMany(c *gin.Context, v ratelimit.Verdict) {
	v.SetHeaders(c.Writer.Header())
	s.fail(c, tooMany(v))
}

func tooMany(v ratelimit.Verdict) error {
	return api.ErrRateLimited.With("retry_after", int(math.Ceil(float64(v.RetryAfter)/float64(time.Second))))
}
