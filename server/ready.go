package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// answerReady reports whether requests can be served now: the database is reachable and can be written, its migrations
// are current, the configuration is followed and the clock is right. The figures are part of either answer.
func (s *Server) answerReady(c *gin.Context) {
	status := http.StatusOK
	ready, said := s.Readiness(c.Request.Context())
	if !ready {
		status = http.StatusServiceUnavailable
	}
	text(c, status, said)
}

// Readiness is the answer of /readyz.
func (s *Server) Readiness(ctx context.Context) (ready bool, text string) {
	ready, text = true, "ready\n"
	if err := s.ready(ctx); err != nil {
		if !errors.Is(ctx.Err(), context.Canceled) { // a caller who left says nothing about the database
			s.logger.WarnContext(ctx, "not ready", "error", err)
		}
		ready, text = false, "not ready\n"
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

	return ready, b.String()
}
