package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// NotReady is why requests cannot be served now, in words for anybody: it names no
// address and no secret. What it wraps is for the log.
type NotReady struct {
	Reason string
	Err    error
}

func (e *NotReady) Error() string { return fmt.Sprintf("%s: %v", e.Reason, e.Err) }

// Unwrap gives the cause.
func (e *NotReady) Unwrap() error { return e.Err }

// Figure is one figure of a node's state, such as how far its clock is off.
type Figure struct {
	Name  string
	Value int64
}

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

// settle applies what is due for a customer who is about to be shown, as far as the
// database can be written now: a read must not need that. Whether it can be read is
// for the read to find out.
func (s *Server) settle(ctx context.Context, customer loyalty.ID) error {
	err := s.engine.Settle(ctx, customer)
	if err != nil && loyalty.AsError(err).Kind == loyalty.Unavailable {
		return nil
	}
	return err
}
