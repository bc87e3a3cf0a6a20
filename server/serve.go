package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/api/administration"
)

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.console != nil && s.consoleOn == nil && ofConsole(r) {
		s.console.ServeHTTP(w, s.proxies.seen(r))
		return
	}
	s.handler.ServeHTTP(w, r)
}

func ofConsole(r *http.Request) bool {
	return r.URL.Path+"/" == administration.ConsolePath || strings.HasPrefix(r.URL.Path, administration.ConsolePath)
}

// consoleOnly serves the console's own listener: the console and what its pages read. No operation can be called there
// without a session.
func (s *Server) consoleOnly(w http.ResponseWriter, r *http.Request) {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case ofConsole(r):
		s.console.ServeHTTP(w, s.proxies.seen(r))
	case r.URL.Path == "/":
		http.Redirect(w, r, administration.ConsolePath, http.StatusSeeOther)
	case reads && (r.URL.Path == "/docs" || strings.HasPrefix(r.URL.Path, "/docs/") ||
		strings.HasPrefix(r.URL.Path, "/openapi/") || r.URL.Path == "/livez"):
		s.handler.ServeHTTP(w, r)
	default:
		http.NotFound(w, r)
	}
}

// Bounds of a connection, so that a slow caller cannot hold one forever; see WriteTimeout for answers.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	idleTimeout   = 120 * time.Second
	maxHeader     = 32 << 10
)

// Run serves until ctx ends, then lets requests under way finish for at most grace. It fails if it cannot listen on the
// address.
func (s *Server) Run(ctx context.Context, grace time.Duration) error {
	l, err := net.Listen("tcp", s.listen)
	if err != nil {
		return err
	}
	return s.Serve(ctx, l, grace)
}

// Serve is Run on an open listener; it closes that and the console's own.
func (s *Server) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	doors := []*door{s.open(l, s)}
	if s.console != nil && s.consoleOn != nil {
		doors = append(doors, s.open(s.consoleOn, http.HandlerFunc(s.consoleOnly)))
	}

	ended := make(chan struct{}, len(doors))
	for _, d := range doors {
		go func() {
			d.served <- d.Serve(d.on)
			ended <- struct{}{}
		}()
	}

	select { // the end of one ends the others
	case <-ended:
	case <-ctx.Done():
	}

	var err error
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	s.stop() // streams end
	for _, d := range doors {
		err = errors.Join(err, d.close(last, grace))
	}

	s.Close(last)
	return err
}

// Close ends streams and writes the waiting failed requests. Serve calls it by itself; a program that uses the server
// only as a handler calls it after the last request and before it closes the store.
func (s *Server) Close(ctx context.Context) {
	s.stop()
	s.failures.Close(ctx)
}

// door is a listener and its HTTP server.
type door struct {
	*http.Server
	on     net.Listener
	served chan error
}

func (s *Server) open(on net.Listener, h http.Handler) *door {
	return &door{&http.Server{
		Handler:           closing(h),
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: api.WriteTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       slog.NewLogLogger(s.logger.Handler(), slog.LevelWarn),
	}, on, make(chan error, 1)}
}

// closing ends the connection after a request with a chunked body. net/http removes a Content-Length beside
// Transfer-Encoding before a handler sees the request, and a proxy that used that length takes the rest of the body for
// another caller's request. On a closed connection nothing behind the body is read (RFC 9112, 6.1). Signed bodies are
// complete in memory before they are sent, so few callers send chunks.
func closing(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// close lets requests under way finish. The error of being closed is no failure.
func (d *door) close(ctx context.Context, grace time.Duration) error {
	err := d.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("requests were still under way after %s: %w", grace, errors.Join(err, d.Close()))
	}
	if ended := <-d.served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

// isLoopback reports whether only this machine can reach a listen address.
func isLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}
