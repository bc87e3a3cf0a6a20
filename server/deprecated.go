package server

import (
	"fmt"

	"github.com/gin-gonic/gin"
)

// deprecate says in the answer's header when one of the actions is deprecated,
// and since when (RFC 9745). It knows them before the body is checked, because
// a refused event says so too.
func (s *Server) deprecate(c *gin.Context, actions []string) {
	for _, action := range actions {
		if since, deprecated := s.vocabulary.Deprecated(action); deprecated {
			c.Header("Deprecation", fmt.Sprintf("@%d", since.Unix()))
			return
		}
	}
}
