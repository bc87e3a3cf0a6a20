package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/api/administration"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// requestLine is the message of the log line of each answered request.
const requestLine = "request"

// log writes one line for each answered request and turns a panic into a plain
// 500. The line has the route's template, never the path or the query, which
// hold customers' names, and never a header or a body.
func (s *Server) log(c *gin.Context) {
	if s.observer != nil {
		s.observer.Began()
		defer s.observed(c)
	}
	if s.tracer != nil {
		s.trace(c)
		defer s.followed(c)
	}
	defer s.logged(c)
	c.Next()
}

func (s *Server) logged(c *gin.Context) {
	r := api.RequestOf(c)
	if p := recover(); p != nil {
		s.panicked(c, r, p)
	}

	status := c.Writer.Status()
	if s.operations[api.RouteKey{Method: c.Request.Method, Path: c.FullPath()}] != nil {
		s.pace.Answered(status)
	}
	if administration.IsFailure(status) {
		s.noteFailure(c, r, status)
	}

	ctx := c.Request.Context()
	level := slog.LevelInfo
	// A caller who left is not our fault, but an earlier failure is.
	left := status == http.StatusServiceUnavailable && errors.Is(ctx.Err(), context.Canceled)
	if status >= http.StatusInternalServerError && !left {
		level = slog.LevelError
	}
	if !s.logger.Enabled(ctx, level) {
		return
	}

	route := c.FullPath()
	if route == "" {
		route = "-"
	}

	attrs := make([]slog.Attr, 0, 12)
	attrs = append(attrs,
		slog.String("request_id", r.ID), slog.String("method", method(c.Request)), slog.String("route", route),
		slog.Int("status", status), slog.Duration("duration", s.clock().Sub(r.Began)),
		slog.Int("bytes_in", len(r.Body)), slog.Int("bytes_out", max(c.Writer.Size(), 0)),
	)

	if trace, span := s.placeOf(c, r); trace != "" {
		attrs = append(attrs, slog.String("trace_id", trace), slog.String("span_id", span))
	}
	if r.Key != nil {
		attrs = append(attrs, slog.String("key_id", r.Key.ID))
	}
	if r.Err != nil {
		attrs = append(attrs, failed(status, r.Err)...)
	}

	// A logger would look up its caller for each line, which no line shows.
	line := slog.NewRecord(time.Now(), level, requestLine, 0)
	line.AddAttrs(attrs...)
	_ = s.logger.Handler().Handle(ctx, line) // a failing log has nowhere to report it
}

// failed returns the reason of a refusal: the name and code of the failure, and its cause if it is a fault of ours.
func failed(status int, err error) []slog.Attr {
	_, fault := api.AsFault(err)
	attrs := []slog.Attr{slog.String("failure", fault.Name), slog.Int("code", fault.Code)}
	if status >= http.StatusInternalServerError {
		attrs = append(attrs, slog.String("error", err.Error()))
	}
	return attrs
}

// panicked logs the stack under the request's id and answers 500. If the answer has begun, it breaks the connection
// instead, so that the client does not take the part for the whole.
func (s *Server) panicked(c *gin.Context, r *api.Request, p any) {
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(p)
	}
	s.logger.LogAttrs(c.Request.Context(), slog.LevelError, "panic",
		slog.String("request_id", r.ID), slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
	if c.Writer.Written() {
		panic(http.ErrAbortHandler)
	}
	s.fail(c, fmt.Errorf("panic: %v", p))
}

// method keeps unknown words out of the log: a caller may send any verb.
func method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodPost, http.MethodHead, http.MethodPut,
		http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "-"
}

// takesEvents are the operations whose refusals are those of events. A bulk that is refused as a whole counts as one.
var takesEvents = map[string]bool{"submitEvent": true, "submitEvents": true}

// noteFailure records a request that was answered with an error, without personal data.
func (s *Server) noteFailure(c *gin.Context, r *api.Request, status int) {
	f := loyalty.FailedRequest{
		At: r.Began.UTC().Truncate(time.Millisecond), RequestID: r.ID, Method: method(c.Request), Route: c.FullPath(),
		Status: status, Code: administration.UnknownCode, Duration: s.clock().Sub(r.Began),
	}

	if o := s.operations[api.RouteKey{Method: c.Request.Method, Path: f.Route}]; o != nil {
		f.Route, f.API = o.Route.Path, o.API
		if r.Key != nil && r.Err != nil && takesEvents[o.Route.Operation.OperationID] {
			s.failures.Refuse(r.Err)
		}
	}

	if r.Key != nil {
		f.KeyID = r.Key.ID
	}

	if r.Err != nil {
		_, fault := api.AsFault(r.Err)
		f.Code, f.Fields = int64(fault.Code), s.failures.Fields(fault.Details)
	}

	s.failures.Add(f)
}

// observed reports a finished request to the observer, whatever its result.
func (s *Server) observed(c *gin.Context) { s.observer.Answered(s.answered(c)) }

func (s *Server) answered(c *gin.Context) api.Answered {
	r := api.RequestOf(c)
	a := api.Answered{Method: method(c.Request), Status: c.Writer.Status(), Took: s.clock().Sub(r.Began)}
	switch {
	case r.Operation != nil && r.Key != nil:
		a.API, a.Route = r.Operation.API, r.Operation.Route.Path
	case r.Err == nil && a.Status < http.StatusBadRequest:
		a.Route = c.FullPath()
	}
	if r.Err != nil {
		_, fault := api.AsFault(r.Err)
		a.Code, a.Failure = fault.Code, fault.Name
	}
	return a
}

// trace starts tracing a request, as a part of its caller's trace if the caller sent one.
func (s *Server) trace(c *gin.Context) {
	parent := ""
	if _, _, ok := traceOf(c.Request.Header); ok {
		parent = c.Request.Header["Traceparent"][0]
	}
	ctx, traced := s.tracer.Begin(c.Request.Context(), parent)
	c.Request, api.RequestOf(c).Traced = c.Request.WithContext(ctx), traced
}

// followed reports the end of a request to the trace.
func (s *Server) followed(c *gin.Context) { api.RequestOf(c).Traced.End(s.answered(c)) }

// placeOf is a request's place in a trace, for the log: its own if it is traced, otherwise its
// caller's; empty if it has none.
func (s *Server) placeOf(c *gin.Context, r *api.Request) (trace, span string) {
	if r.Traced.Trace != "" {
		return r.Traced.Trace, r.Traced.Span
	}
	trace, span, _ = traceOf(c.Request.Header)
	return trace, span
}
