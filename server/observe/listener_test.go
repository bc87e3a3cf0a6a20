package observe

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func listener(t *testing.T, local bool) *Listener {
	t.Helper()
	b := Build{Version: "v1", Go: "go1", Platform: "a/b"}
	return NewListener(ListenerOptions{Metrics: NewMetrics(b, nil).Handler(), Build: b, Local: local, Logger: slog.New(slog.DiscardHandler)})
}

func ask(l *Listener, method, host, path string) (int, string) {
	r := httptest.NewRequest(method, path, nil)
	r.Host = host
	w := httptest.NewRecorder()
	l.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// TestListenerStates goes from the start to the end of a program.
func TestListenerStates(t *testing.T) {
	l := listener(t, true)
	is := func(path string, status int, text string) {
		t.Helper()
		gotStatus, got := ask(l, http.MethodGet, "127.0.0.1:8081", path)
		require.Equal(t, status, gotStatus)
		require.Equal(t, text, got)
	}

	is("/livez", 200, "ok\n")
	is("/startupz", 503, "starting\n")
	is("/readyz", 503, "not ready: starting\n")
	ready := true
	l.Started(func(context.Context) (bool, string) { return ready, "what the server says\n" })
	is("/startupz", 200, "started\n")
	is("/readyz", 200, "what the server says\n")
	ready = false
	is("/readyz", 503, "what the server says\n")
	ready = true
	l.Ending()
	is("/readyz", 503, "not ready: stopping\n")
	is("/livez", 200, "ok\n")
	is("/version", 200, `{"version":"v1","go":"go1","platform":"a/b"}`+"\n")
}

// TestListenerRefuses: what a browser could be led to ask, what would change something, and
// what would show the command line, is not answered.
func TestListenerRefuses(t *testing.T) {
	for host, status := range map[string]int{"127.0.0.1:8081": 200, "[::1]:8081": 200, "localhost": 200, "evil.example": 403, "evil.example:8081": 403} {
		got, _ := ask(listener(t, true), http.MethodGet, host, "/livez")
		require.Equal(t, status, got, host)
	}

	got, _ := ask(listener(t, false), http.MethodGet, "node-1.example:8081", "/livez")
	require.Equal(t, 200, got, "a listener for other machines has a name")
	for _, path := range []string{"/", "/events", "/customers", "/docs", "/debug/pprof/cmdline"} {
		got, _ := ask(listener(t, true), http.MethodGet, "127.0.0.1", path)
		require.Equal(t, 404, got, path)
	}

	got, _ = ask(listener(t, true), http.MethodPost, "127.0.0.1", "/debug/pprof/profile")
	require.Equal(t, 405, got)
	got, text := ask(listener(t, true), http.MethodGet, "127.0.0.1", "/debug/pprof/goroutine?debug=1")
	require.Equal(t, 200, got)
	require.Contains(t, text, "goroutine profile:")
	got, _ = ask(listener(t, true), http.MethodGet, "127.0.0.1", "/debug/pprof/")
	require.Equal(t, 200, got)
}

// TestListenerEnds leaves nothing running.
func TestListenerEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	l := listener(t, true)
	on, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Serve(ctx, on) }()
	client := &http.Client{Transport: &http.Transport{}}
	a, err := client.Get("http://" + on.Addr().String() + "/metrics")
	require.NoError(t, err)
	text, err := io.ReadAll(a.Body)
	require.NoError(t, err)
	require.NoError(t, a.Body.Close())
	require.Contains(t, string(text), `loyalty_build_info{go="go1",revision="",version="v1"} 1`)
	client.CloseIdleConnections()
	end()

	require.NoError(t, <-done)
}
