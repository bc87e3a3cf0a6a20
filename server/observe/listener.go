// Package observe is the operators' view of a running program, on a listener of its own: its metrics, health, version
// and profiles. It receives what the rest of the program does through small interfaces that the rest declares
// (engine.Observer, api.Observer), and no other package knows it. It has no global state. It is the only importer of
// Prometheus' library and of net/http/pprof.
package observe

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"sync/atomic"
	"time"
)

// Readiness reports whether requests can be served now, with a text.
type Readiness func(ctx context.Context) (ready bool, text string)

// Listener answers operators. It runs before the database is opened and after it is closed, so that a long start and a
// long end can be watched. It never serves the API.
type Listener struct {
	mux    *http.ServeMux
	local  bool
	logger *slog.Logger
	ready  atomic.Pointer[Readiness] // nil: starting
	ending atomic.Bool
}

// ListenerOptions are the parts of a Listener.
type ListenerOptions struct {
	// Metrics answers /metrics.
	Metrics http.Handler
	// Build is the answer of /version.
	Build Build
	// Local: only this machine can reach the listener. Then a request with a host name is refused, because a page in a
	// browser could have sent it.
	Local  bool
	Logger *slog.Logger
}

// Build describes the program.
type Build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// NewListener makes a Listener. It reports that it is starting until Started is called.
func NewListener(o ListenerOptions) *Listener {
	l := &Listener{mux: http.NewServeMux(), local: o.Local, logger: o.Logger}
	l.mux.Handle("GET /metrics", o.Metrics)
	l.mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { say(w, true, "ok\n") })
	l.mux.HandleFunc("GET /startupz", l.startup)
	l.mux.HandleFunc("GET /readyz", l.readiness)
	l.mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(o.Build) // the caller may be gone
	})

	// Registered one by one: the package's own registration uses the global mux. The command line is left out, because
	// it may contain secrets.
	l.mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	l.mux.HandleFunc("GET /debug/pprof/cmdline", http.NotFound)
	l.mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	l.mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	l.mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return l
}

// ServeHTTP answers one request.
func (l *Listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if l.local && !isAddress(r.Host) {
		http.Error(w, "this address is for callers on this machine, by its number", http.StatusForbidden)
		return
	}
	l.mux.ServeHTTP(w, r)
}

// isAddress reports whether a Host header is an address, or localhost.
func isAddress(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "localhost" || host == "" {
		return true
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// Started tells the listener that the program serves, and how to ask whether it is ready.
func (l *Listener) Started(ready Readiness) { l.ready.Store(&ready) }

// Ending tells the listener that the program is stopping and not ready.
func (l *Listener) Ending() { l.ending.Store(true) }

func (l *Listener) startup(w http.ResponseWriter, _ *http.Request) {
	if l.ready.Load() == nil {
		say(w, false, "starting\n")
		return
	}
	say(w, true, "started\n")
}

func (l *Listener) readiness(w http.ResponseWriter, r *http.Request) {
	ready := l.ready.Load()
	switch {
	case l.ending.Load():
		say(w, false, "not ready: stopping\n")
	case ready == nil:
		say(w, false, "not ready: starting\n")
	default:
		ok, text := (*ready)(r.Context())
		say(w, ok, text)
	}
}

func say(w http.ResponseWriter, ok bool, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = w.Write([]byte(text)) // the caller may be gone
}

// Bounds of a connection. A profile takes as long as its caller asks for.
const (
	headerTimeout = 10 * time.Second
	answerTimeout = 5 * time.Minute
	idleTimeout   = 2 * time.Minute
	lastAnswers   = time.Second
)

// Serve answers until ctx ends; requests under way then have one second. It closes the listener.
func (l *Listener) Serve(ctx context.Context, on net.Listener) error {
	h := &http.Server{
		Handler: l, ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, WriteTimeout: answerTimeout,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(l.logger.Handler(), slog.LevelWarn),
	}

	served := make(chan error, 1)
	go func() { served <- h.Serve(on) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}

	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastAnswers)
	defer cancel()
	if h.Shutdown(last) != nil {
		_ = h.Close() // ends unfinished profiles
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}

	return nil
}
