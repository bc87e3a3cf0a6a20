package server

import (
	"fmt"

	"github.com/gin-gonic/gin"
	"github.com/loyalty-platform/loyalty/server/contract"
)

// deprecate adds the header of RFC 9745, with the date, if one of the actions is deprecated. It runs before the body is
// checked, because answers to refused events have the header too.
func deprecate(c *gin.Context, vocabulary *contract.Vocabulary, actions []string) {
	for _, action := range actions {
		if since, deprecated := vocabulary.Deprecated(action); deprecated {
			c.Header("Deprecation", fmt.Sprintf("@%d", since.Unix()))
			return
		}
	}
}
