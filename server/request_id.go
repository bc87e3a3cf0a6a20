package server

import (
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/loyalty-platform/loyalty/server/api"
)

// requestIDHeader is on every answer, also on unsigned ones.
const requestIDHeader = "X-Request-Id"

// identify gives the request its id. The id from a trusted proxy is kept, so that both logs agree; an id from any other
// caller is not, because it could make two requests look like one.
func (s *Server) identify(c *gin.Context) {
	wish := s.wished(strings.Join(c.Request.Header["Accept-Language"], ","))
	r := &api.Request{
		Began: s.clock(), Source: s.proxies.source(c.Request),
		Tongue: api.Localizer{Catalogue: s.catalogue, Wanted: wish.wanted, Messages: wish.messages},
	}

	r.Language = &r.Tongue
	if sent := c.Request.Header.Get(requestIDHeader); s.proxies.trustsPeer(c.Request) && isRequestID(sent) {
		r.ID = sent
	} else {
		r.ID = uuid.Must(uuid.NewV7()).String() // fails only without a random source
	}

	c.Set(api.RequestKey{}, r)
	h := c.Writer.Header()
	h[requestIDHeader] = []string{r.ID}
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
