package server

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// answerReady says whether requests can be served now: whether the database is
// reachable and can be written, its migrations are current, the configuration is
// followed and the clock is right. The figures come in either case.
func (s *Server) answerReady(c *gin.Context) {
	status, text := http.StatusOK, "ready\n"
	if err := s.ready(c.Request.Context()); err != nil {
		s.logger.WarnContext(c.Request.Context(), "not ready", "error", err)
		status, text = http.StatusServiceUnavailable, "not ready\n"
		var why *NotReady
		if errors.As(err, &why) {
			text = "not ready: " + why.Reason + "\n"
		}
	}
	var b strings.Builder
	b.WriteString(text)
	for _, f := range s.status() {
		fmt.Fprintf(&b, "%s %d\n", f.Name, f.Value)
	}
	c.String(status, "%s", b.String())
}
