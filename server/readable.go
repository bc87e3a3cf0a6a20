package server

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/server/api"
)

// readable undoes escapes in answers: encoding/json escapes &, < and > for pages that paste JSON into HTML, and so do
// the generated answers, whose links contain many. Published documents announce their length before they are written,
// and need no change.
func readable(c *gin.Context) { c.Writer = readableWriter{c.Writer} }

type readableWriter struct{ gin.ResponseWriter }

// Unwrap returns the connection's writer, for its deadlines.
func (w readableWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write writes a whole answer, or a part that was cut between characters, as an encoder does.
func (w readableWriter) Write(answer []byte) (int, error) {
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		return w.ResponseWriter.Write(answer)
	}
	if _, err := w.ResponseWriter.Write(api.WithoutHTML(answer)); err != nil {
		return 0, err
	}
	return len(answer), nil
}
