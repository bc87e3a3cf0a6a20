package server

import (
	"fmt"

	"github.com/gin-gonic/gin"
	"github.com/loyalty-platform/loyalty/server/contract"
)

// deprecate says in the answer's header when one of the actions is deprecated,
// and since when (RFC 9745). It knows them before the body is checked, because
// a refused event says so too.
func deprecate(c *gin.Context, vocabulary *contract.Vocabulary, actions []string) {
	for _, action := range actions {
		if since, deprecated := vocabulary.Deprecated(action); deprecated {
			c.Header("Deprecation", fmt.Sprintf("@%d", since.Unix()))
			return
		}
	}
}
