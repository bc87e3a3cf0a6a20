package server

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// trace begins to follow a request, as a part of its caller's trace where they sent one.
func (s *Server) trace(c *gin.Context) {
	parent := ""
	if _, _, ok := traceOf(c.Request.Header); ok {
		parent = c.Request.Header["Traceparent"][0]
	}
	ctx, traced := s.tracer.Begin(c.Request.Context(), parent)
	c.Request, requestOf(c).traced = c.Request.WithContext(ctx), traced
}

// followed tells how a request ended.
func (s *Server) followed(c *gin.Context) { requestOf(c).traced.End(s.answered(c)) }

// placeOf is a request's place in a trace, for the log: its own where it is followed, else its
// caller's; empty: it has none.
func (s *Server) placeOf(c *gin.Context, r *request) (trace, span string) {
	if r.traced.Trace != "" {
		return r.traced.Trace, r.traced.Span
	}
	trace, span, _ = traceOf(c.Request.Header)
	return trace, span
}

// traceOf reads the caller's place in a trace (W3C Trace Context, traceparent): the ids of
// the trace and of the caller's span, in hexadecimal digits. Whatever is not one by the
// letter is no trace: a caller's text never comes into the log.
func traceOf(h http.Header) (trace, span string, ok bool) {
	sent := h["Traceparent"]
	if len(sent) != 1 {
		return "", "", false
	}
	text := sent[0]
	if len(text) < 55 || text[2] != '-' || text[35] != '-' || text[52] != '-' {
		return "", "", false
	}
	version, trace, span, flags := text[:2], text[3:35], text[36:52], text[53:55]
	later := len(text) > 55 && text[55] == '-' && version != "00" // a later version may say more
	if version == "ff" || len(text) != 55 && !later || !isHex(version) || !isHex(trace) || !isHex(span) || !isHex(flags) {
		return "", "", false
	}
	if strings.Trim(trace, "0") == "" || strings.Trim(span, "0") == "" {
		return "", "", false
	}
	return trace, span, true
}

// isHex takes lower case alone, as the recommendation does.
func isHex(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" }
