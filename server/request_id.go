package server

import (
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"
)

// requestIDHeader is on every answer, also on unsigned ones.
const requestIDHeader = "X-Request-Id"

// identify gives the request its id. The id from a trusted proxy is kept, so that both logs agree; an id from any other
// caller is not, because it could make two requests look like one.
func (s *Server) identify(c *gin.Context) {
	wish := s.wished(strings.Join(c.Request.Header["Accept-Language"], ","))
	r := &request{
		began: s.clock(), source: s.proxies.source(c.Request),
		tongue: tongue{catalogue: s.catalogue, wanted: wish.wanted, messages: wish.messages},
	}

	r.language = &r.tongue
	if sent := c.Request.Header.Get(requestIDHeader); s.proxies.trustsPeer(c.Request) && isRequestID(sent) {
		r.id = sent
	} else {
		r.id = uuid.Must(uuid.NewV7()).String() // fails only without a random source
	}

	c.Set(requestKey{}, r)
	h := c.Writer.Header()
	h[requestIDHeader] = []string{r.id}
	h["Cache-Control"] = noStore
}

// noStore keeps answers, which name customers, out of caches.
var noStore = []string{"no-store"}

// isRequestID takes 1 to 64 letters, digits, dots, hyphens and underscores.
func isRequestID(id string) bool {
	for i := range len(id) {
		switch c := id[i]; {
		case c-'0' <= 9, c|0x20-'a' <= 25, c == '-', c == '.', c == '_':
		default:
			return false
		}
	}
	return id != "" && len(id) <= 64
}
