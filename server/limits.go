package server

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"
)

// Sizes of what is read before anybody is known. Query and Authorization have
// their limits, 8 and 4 KiB, in the signature's check, which looks at sizes
// before it hashes.
const (
	maxBody   = 1 << 20
	trustBody = 64 << 10 // what is set aside for an announced body before it arrives
)

// readBody reads the whole raw body once, before it is hashed. Everything later
// reads it from memory.
func (s *Server) readBody(c *gin.Context) {
	limit := maxBody
	if o := s.operations[routeKey{c.Request.Method, c.FullPath()}]; o != nil && o.bodyLimit > 0 {
		limit = o.bodyLimit
	}
	body, err := readLimited(c.Request, limit)
	switch {
	case errors.Is(err, errBodyLimit):
		c.Writer.Header().Set("Connection", "close") // the rest is not read
		s.fail(c, errBodyTooLarge.with("limit", limit))
	case err != nil:
		s.fail(c, malformedBody("incomplete").Because(err))
	default:
		requestOf(c).body = body
	}
}

var errBodyLimit = errors.New("the body is over the limit")

// readLimited trusts an announced length only as far as it costs little: a
// caller who announces a megabyte and sends nothing must not take one.
func readLimited(r *http.Request, limit int) ([]byte, error) {
	switch n := r.ContentLength; {
	case n == 0:
		return nil, nil
	case n > int64(limit):
		return nil, errBodyLimit
	case n > 0 && n <= trustBody:
		body := make([]byte, n)
		_, err := io.ReadFull(r.Body, body)
		return body, err
	}
	var b bytes.Buffer
	if _, err := b.ReadFrom(io.LimitReader(r.Body, int64(limit)+1)); err != nil {
		return nil, err
	}
	if b.Len() > limit {
		return nil, errBodyLimit
	}
	return b.Bytes(), nil
}
