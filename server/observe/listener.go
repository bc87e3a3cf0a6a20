// Package observe is what operators see of a running program, on a listener of its own: its
// metrics, its health, its version and its profiles. It hears what the rest of the program
// does through small interfaces that the rest declares (engine.Observer, server.Observer),
// and nothing else knows of it. It has no global state. It is the only importer of
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

// Readiness says whether requests can be served now, and the text that tells it.
type Readiness func(ctx context.Context) (ready bool, text string)

// Listener answers operators. It is there before the database is opened and after it is
// closed, so that a start that takes long and an end that takes long can be watched. It
// never serves the API.
type Listener struct {
	mux    *http.ServeMux
	local  bool
	logger *slog.Logger
	ready  atomic.Pointer[Readiness] // nil: starting
	ending atomic.Bool
}

// ListenerOptions are what a Listener is made of.
type ListenerOptions struct {
	// Metrics answers /metrics.
	Metrics http.Handler
	// Build is what /version tells.
	Build Build
	// Local says that only this machine can reach the listener. Then a request under a
	// host's name is refused: a page in a browser could have sent it.
	Local  bool
	Logger *slog.Logger
}

// Build says what program this is.
type Build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// NewListener makes a Listener. It says that it is starting until Started is called.
func NewListener(o ListenerOptions) *Listener {
	l := &Listener{mux: http.NewServeMux(), local: o.Local, logger: o.Logger}
	l.mux.Handle("GET /metrics", o.Metrics)
	l.mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { say(w, true, "ok\n") })
	l.mux.HandleFunc("GET /startupz", l.startup)
	l.mux.HandleFunc("GET /readyz", l.readiness)
	l.mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(o.Build) // the caller is gone
	})
	// One by one: the package's own registration puts them on a mux that everything shares.
	// The command line is left out, because secrets may stand in it.
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

// isAddress says whether a Host header is an address, or this machine's own name for itself.
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

// Started says that the program serves, and how it tells whether it is ready.
func (l *Listener) Started(ready Readiness) { l.ready.Store(&ready) }

// Ending says that the program has begun to stop: it is not ready any more.
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
	_, _ = w.Write([]byte(text)) // the caller is gone
}

// How long a connection may take. A profile takes as long as its caller asks for.
const (
	headerTimeout = 10 * time.Second
	answerTimeout = 5 * time.Minute
	idleTimeout   = 2 * time.Minute
	lastAnswers   = time.Second
)

// Serve answers until ctx ends; what is under way then has a second. It closes the
// listener.
func (l *Listener) Serve(ctx context.Context, on net.Listener) error {
	h := &http.Server{
		Handler: l, ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, WriteTimeout: answerTimeout, IdleTimeout: idleTimeout,
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
		_ = h.Close() // a profile that nobody waits for
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
