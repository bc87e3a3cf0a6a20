package server

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// fail answers an error of any stage; nothing else writes one. The log line of the request has the error itself.
func (s *Server) fail(c *gin.Context, err error) {
	r := api.RequestOf(c)
	r.Err = err
	c.Abort()
	if c.Writer.Written() {
		return // the answer has begun; the log line has the error
	}

	r.Language.Forget() // texts from before the failure are not sent
	status, body := api.ErrorBody(r.Language, err)
	h := c.Writer.Header()
	switch _, fault := api.AsFault(err); {
	case status == http.StatusUnauthorized:
		h.Set("WWW-Authenticate", s.algorithm)
	case fault.Code == api.ErrCoding.Fault.Code:
		h.Set("Accept-Encoding", "identity") // RFC 9110, 12.5.3
	case status == http.StatusServiceUnavailable && (fault.Code != loyalty.ErrUnconfirmed.Code || r.Repeatable(c.Request)):
		h.Set("Retry-After", "1")
	}

	common.WriteBody(c.Writer, status, body)
}
