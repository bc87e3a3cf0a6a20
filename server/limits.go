package server

import (
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/api"
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
	r := api.RequestOf(c)
	r.Memory = s.bodies.Share(r.Claimed != nil)
	defer r.Memory.Release()
	limit := maxBody
	if o := s.operations[api.RouteKey{Method: c.Request.Method, Path: c.FullPath()}]; o != nil && o.BodyLimit > 0 {
		limit = o.BodyLimit
	}

	allowed := limit
	if r.Claimed == nil {
		allowed = min(limit, unknownBody)
	}

	body, err := readLimited(c.Request, allowed, &r.Memory)
	if err != nil {
		c.Writer.Header().Set("Connection", "close") // the rest is not read
	}

	switch {
	case errors.Is(err, errBodyLimit) && allowed < limit:
		// The signature of an unknown key is refused whatever the body is; a separate limit would reveal that the key
		// is unknown.
		r.Cut = true
	case errors.Is(err, errBodyLimit):
		s.fail(c, api.ErrBodyTooLarge.With("limit", limit))
	case errors.Is(err, api.ErrNoRoom):
		s.fail(c, api.ErrBusy)
	case err != nil:
		s.fail(c, contract.MalformedBody("incomplete").Because(err))
	}

	r.Body = body
	if !c.IsAborted() {
		c.Next()
	}
}

var errBodyLimit = errors.New("the body is over the limit")

// readLimited trusts an announced length only as far as that is cheap: a caller who announces a megabyte and sends
// nothing must not occupy one. Memory is counted before it is allocated.
func readLimited(r *http.Request, limit int, memory *api.BodyShare) ([]byte, error) {
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
			if !memory.Take(int64(room - cap(body))) {
				return nil, api.ErrNoRoom
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
