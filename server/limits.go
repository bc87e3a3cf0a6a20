package server

import (
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/contract"
)

// Limits of what is read before a signature is verified. Query and Authorization have their own limits, 8 and 4 KiB, in
// the check of the signature, which looks at sizes before it hashes.
const (
	maxBody     = 1 << 20
	unknownBody = 64 << 10 // of a caller with an unknown key
	firstRead   = 64 << 10 // allocated for an announced body before it arrives
)

// readBody reads the whole raw body once, before it is hashed. Later stages read it from memory, which is counted until
// the request is answered.
func (s *Server) readBody(c *gin.Context) {
	r := requestOf(c)
	r.memory = s.bodies.share(r.claimed != nil)
	defer r.memory.release()
	limit := maxBody
	if o := s.operations[routeKey{c.Request.Method, c.FullPath()}]; o != nil && o.bodyLimit > 0 {
		limit = o.bodyLimit
	}

	allowed := limit
	if r.claimed == nil {
		allowed = min(limit, unknownBody)
	}

	body, err := readLimited(c.Request, allowed, &r.memory)
	if err != nil {
		c.Writer.Header().Set("Connection", "close") // the rest is not read
	}

	switch {
	case errors.Is(err, errBodyLimit) && allowed < limit:
		// The signature of an unknown key is refused whatever the body is; a separate limit would reveal that the key
		// is unknown.
		r.cut = true
	case errors.Is(err, errBodyLimit):
		s.fail(c, errBodyTooLarge.with("limit", limit))
	case errors.Is(err, errNoRoom):
		s.fail(c, errBusy)
	case err != nil:
		s.fail(c, contract.MalformedBody("incomplete").Because(err))
	}

	r.body = body
	if !c.IsAborted() {
		c.Next()
	}
}

var errBodyLimit = errors.New("the body is over the limit")

// readLimited trusts an announced length only as far as that is cheap: a caller who announces a megabyte and sends
// nothing must not occupy one. Memory is counted before it is allocated.
func readLimited(r *http.Request, limit int, memory *bodyShare) ([]byte, error) {
	announced := r.ContentLength
	if announced == 0 {
		return nil, nil
	}
	if announced > int64(limit) {
		return nil, errBodyLimit
	}

	size := limit + 1 // one more detects a body that is too long
	if announced > 0 {
		size = int(announced)
	}

	var body []byte
	for {
		if len(body) == cap(body) {
			if len(body) == size {
				break
			}
			room := min(max(2*cap(body), firstRead), size)
			if !memory.take(int64(room - cap(body))) {
				return nil, errNoRoom
			}
			body = slices.Grow(body, room-len(body))[:len(body):room]
		}

		n, err := r.Body.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}

	switch {
	case announced > 0 && len(body) < int(announced):
		return nil, io.ErrUnexpectedEOF
	case len(body) > limit:
		return nil, errBodyLimit
	}

	return body, nil
}
