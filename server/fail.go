package server

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// fail answers an error of any stage; nothing else writes one. The error itself
// goes to the log line of the request.
func (s *Server) fail(c *gin.Context, err error) {
	r := requestOf(c)
	r.err = err
	c.Abort()
	if c.Writer.Written() {
		return // the answer has begun; the log line has the error
	}
	r.language.forget() // texts from before the failure are not sent
	status, body := errorBody(r.language, err)
	h := c.Writer.Header()
	switch status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", s.algorithm)
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	}
	writeJSON(c.Writer, status, body)
}
