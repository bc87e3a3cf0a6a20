package server

import (
	"fmt"

	"github.com/gin-gonic/gin"
	"github.com/loyalty-platform/loyalty/server/contract"
)

// deprecate adds the header of RFC 9745 if one of the actions is deprecated, and since when. It is
// added before the body is checked, because refused events carry it too.
func deprecate(c *gin.Context, vocabulary *contract.Vocabulary, actions []string) {
	for _, action := range actions {
		if since, deprecated := vocabulary.Deprecated(action); deprecated {
			c.Header("Deprecation", fmt.Sprintf("@%d", since.Unix()))
			return
		}
	}
}
