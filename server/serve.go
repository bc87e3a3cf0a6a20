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
)

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.console != nil && (r.URL.Path == consolePath[:len(consolePath)-1] || strings.HasPrefix(r.URL.Path, consolePath)) {
		s.console.ServeHTTP(w, r)
		return
	}
	s.handler.ServeHTTP(w, r)
}

// consolePath is where the console is.
const consolePath = "/console/"

// How long a connection may take, so that a slow caller cannot hold one for
// ever. A bulk may need most of writeTimeout for its work.
const (
	headerTimeout = 10 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 120 * time.Second
	idleTimeout   = 120 * time.Second
	maxHeader     = 32 << 10
)

// Run serves until ctx ends, then lets requests under way finish for grace at
// most. It fails when the address cannot be listened on.
func (s *Server) Run(ctx context.Context, grace time.Duration) error {
	l, err := net.Listen("tcp", s.listen)
	if err != nil {
		return err
	}
	return s.Serve(ctx, l, grace)
}

// Serve is Run on a listener that is open already; it closes it.
func (s *Server) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	h := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       slog.NewLogLogger(s.logger.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() { served <- h.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	s.stop() // streams end
	err := h.Shutdown(last)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("requests were still under way after %s: %w", grace, errors.Join(err, h.Close()))
	}
	s.failures.flush(last)
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

// isLoopback says whether only this machine can reach a listen address.
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
