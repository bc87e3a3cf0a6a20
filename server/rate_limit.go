package server

import (
	"math"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/limit"
)

// limitRate counts a signed request on its key. It stands before every later
// refusal, so that each answer to a signed request tells what is left.
func (s *Server) limitRate(c *gin.Context) {
	key := requestOf(c).key
	perMinute := key.RateLimit
	if perMinute == 0 {
		perMinute = limit.DefaultPerMinute
	}
	verdict, err := s.limiter.Allow(c.Request.Context(), key.ID, perMinute, s.burst)
	if err != nil {
		s.fail(c, err)
		return
	}
	verdict.SetHeaders(c.Writer.Header())
	if !verdict.Allowed {
		s.tooMany(c, verdict)
	}
}

func (s *Server) tooMany(c *gin.Context, v limit.Verdict) {
	v.SetHeaders(c.Writer.Header())
	s.fail(c, errRateLimited.with("retry_after", int(math.Ceil(float64(v.RetryAfter)/float64(time.Second)))))
}
