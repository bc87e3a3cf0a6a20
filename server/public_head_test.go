package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/portal"
)

// varying are headers that no two answers have alike.
var varying = []string{"X-Request-Id", "Date"}

// TestHeadOfPublicPaths: HEAD of whatever is read without a signature has the status and the headers of GET, its length
// among them, and no body. Operations know GET and POST only.
func TestHeadOfPublicPaths(t *testing.T) {
	h := open(t, func(o *server.Options) { o.Portal = portal.New(region, http.NotFoundHandler()) })
	paths := []string{"/livez", "/readyz", "/", "/docs", "/docs.md", "/docs/signing", "/docs/reference", "/docs/search.json", "/docs/nothing-here", "/llms.txt", "/openapi/common.yaml"}
	for _, api := range openapi.Names() {
		paths = append(paths, "/openapi/"+api+".yaml", "/openapi/"+api+".json", "/openapi/"+api+".json?bodies=json", "/openapi/"+api+".json?bodies=xml", "/collections/"+api+".json")
	}

	reference := h.send(h.request(http.MethodGet, "/docs/reference", "")).body
	assets := regexp.MustCompile(`/docs/assets/[^"]+`).FindAllString(reference+h.send(h.request(http.MethodGet, "/docs", "")).body, -1)
	require.NotEmpty(t, assets)
	for _, path := range append(paths, assets...) {
		for _, coding := range []string{"identity", "gzip"} {
			get := h.send(h.request(http.MethodGet, path, "", "Accept-Encoding", coding))
			head := h.send(h.request(http.MethodHead, path, "", "Accept-Encoding", coding))
			require.Equal(t, get.status, head.status, path)
			require.Empty(t, head.body, path)
			require.Equal(t, fmt.Sprint(len(get.body)), get.header.Get("Content-Length"), path)
			for _, name := range varying {
				get.header.Del(name)
				head.header.Del(name)
			}
			require.Equal(t, get.header, head.header, path)
		}
	}

	require.Equal(t, http.StatusMethodNotAllowed, h.signed(h.key, h.request(http.MethodHead, "/customers", "")).status)
}

// TestDocumentsWithoutForms: generators that take one body of an operation can have the documents so.
func TestDocumentsWithoutForms(t *testing.T) {
	h := open(t)
	get := func(target string) answer { return h.send(h.request(http.MethodGet, target, "")) }
	for form, media := range map[string]string{"yaml": "application/x-www-form-urlencoded:", "json": `"application/x-www-form-urlencoded":`} {
		require.Contains(t, get("/openapi/events."+form).body, media)
		a := get("/openapi/events." + form + "?bodies=json")
		require.Equal(t, http.StatusOK, a.status)
		require.False(t, strings.Contains(a.body, media), form)
	}

	for _, wrong := range []string{"xml", "", "JSON", "json&bodies=json", "json,form"} {
		a := get("/openapi/events.json?bodies=" + wrong)
		require.Equal(t, http.StatusBadRequest, a.status, wrong)
		require.Equal(t, 190070, a.fault(t).Code)
		require.Equal(t, []string{"bodies"}, a.fault(t).fields())
	}
}

// TestTwoLengths: a body that came in chunks is the last that its connection brings, so that what a proxy may take for
// part of it, going by a Content-Length, is never read as another caller's request.
func TestTwoLengths(t *testing.T) {
	h := open(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Server.Serve(ctx, l, time.Minute) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})

	address := l.Addr().String()
	smuggled := "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, c := range map[string]struct {
		headers string
		answers int
	}{
		"both":       {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", 1},
		"both, then": {"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", 1},
		"chunks":     {"Transfer-Encoding: chunked\r\n", 1},
		"a length":   {"Content-Length: 5\r\n", 2},
	} {
		for _, path := range []string{"/events", "/docs/try", "/livez", "/console/session"} {
			to, err := net.Dial("tcp", address)
			require.NoError(t, err, name)
			_, err = io.WriteString(to, "POST "+path+" HTTP/1.1\r\nHost: x\r\n"+c.headers+"\r\n0\r\n\r\n"+smuggled)
			require.NoError(t, err, name)
			answers, from := 0, bufio.NewReader(to)
			for answers < c.answers {
				a, err := http.ReadResponse(from, nil)
				require.NoError(t, err, "%s %s", name, path)
				_, err = io.Copy(io.Discard, a.Body)
				require.NoError(t, err, name)
				answers++
				require.Equal(t, c.answers == 1, a.Close, "%s %s: %d", name, path, a.StatusCode)
			}

			if c.answers == 1 {
				_, err = from.ReadByte()
				require.ErrorIs(t, err, io.EOF, "%s %s: nothing comes behind it", name, path)
			}

			require.NoError(t, to.Close())
		}
	}
}
