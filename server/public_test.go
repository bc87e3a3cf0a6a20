package server_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server"
)

// spec: service.published, version.documents
func TestPublicPages(t *testing.T) {
	down := fmt.Errorf("dial secret-host")
	h := open(t, func(o *server.Options) {
		ready := o.Ready
		o.Ready = func(ctx context.Context) error {
			if down != nil {
				return down
			}
			return ready(ctx)
		}
	})

	get := func(target string) answer { return h.send(h.request(http.MethodGet, target, "")) }
	require.Equal(t, http.StatusOK, get("/livez").status)
	a := get("/readyz")
	require.Equal(t, http.StatusServiceUnavailable, a.status)
	require.NotContains(t, a.body, "secret-host")
	require.Contains(t, h.log.String(), `"level":"ERROR"`)

	// a balancer that has hung up is told nothing, and the log is not told that the database is away
	before := len(h.log.String())
	gone, leave := context.WithCancel(t.Context())
	leave()
	down = gone.Err()
	h.Server.ServeHTTP(httptest.NewRecorder(), h.request(http.MethodGet, "/readyz", "").WithContext(gone))
	logged := h.log.String()[before:]
	require.Contains(t, logged, `"route":"/readyz"`)
	require.NotContains(t, logged, "not ready")
	require.NotContains(t, logged, `"level":"ERROR"`)
	down = nil
	require.Equal(t, http.StatusOK, get("/readyz").status)
	for _, api := range openapi.Names() {
		a = get("/openapi/" + api + ".yaml")
		require.Equal(t, http.StatusOK, a.status)
		require.Contains(t, a.body, "openapi: 3.0.3")
		require.NotContains(t, a.body, "common.yaml", "a document stands by itself")
		a = get("/openapi/" + api + ".json")
		require.Equal(t, http.StatusOK, a.status)
		require.Equal(t, "3.0.3", a.json(t)["openapi"])
		a = get("/collections/" + api + ".json")
		require.Equal(t, http.StatusOK, a.status)
		made, err := openapi.MakeCollection(api)
		require.NoError(t, err)
		require.Equal(t, string(made), a.body, "make collections")
		require.Contains(t, get("/docs/apis/"+api).body, "/openapi/"+api+".yaml")
		require.Contains(t, get("/docs/apis/"+api).body, "/collections/"+api+".json")
	}

	require.Equal(t, http.StatusUnauthorized, get("/openapi/common.yaml").status)
	page := get("/")
	require.NotContains(t, page.body, `="http`, "it loads nothing from elsewhere")
	require.Contains(t, page.header.Get("Content-Security-Policy"), "default-src 'none'")
}

// TestStopsGracefully: requests under way finish, later ones get no connection.
func TestStopsGracefully(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	h := open(t, func(o *server.Options) {
		o.Ready = func(context.Context) error {
			close(begun)
			<-release
			return nil
		}
	})

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Server.Serve(ctx, l, time.Minute) }()
	answered := make(chan int, 1)
	go func() {
		resp, err := http.Get("http://" + l.Addr().String() + "/readyz")
		if err != nil {
			answered <- 0
			return
		}
		_ = resp.Body.Close()
		answered <- resp.StatusCode
	}()

	<-begun
	stop()
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	}, time.Minute, time.Millisecond, "later ones find nobody")

	close(release)
	require.Equal(t, http.StatusOK, <-answered)
	require.NoError(t, <-ended)
	_, err = net.Dial("tcp", l.Addr().String())
	require.Error(t, err)
}
