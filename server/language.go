package server

import (
	"strings"

	"github.com/gin-gonic/gin"
)

// speak chooses the language of the answer, before the signature is checked, so
// that a 401 speaks it too.
func (s *Server) speak(c *gin.Context) {
	r, choice := requestOf(c), s.programme().Language
	wanted := c.Request.Header["Accept-Language"]
	header := ""
	if len(wanted) > 0 {
		header = strings.Join(wanted, ",")
	}
	r.language = s.catalogue.Negotiate(header, choice.Enabled, choice.Default)
	c.Writer.Header().Set("Content-Language", r.language)
}
