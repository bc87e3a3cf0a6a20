package main

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

var managedAt = regexp.MustCompile(`management: [^\n]*address=(http://\S+)`)

// managed is the address for operators of a server that was started with LOYALTY_MANAGE.
func managed(t *testing.T, s *serving) string {
	t.Helper()
	found := managedAt.FindStringSubmatch(s.log())
	require.NotNil(t, found, s.log())
	return found[1]
}

func fetch(t *testing.T, url string) (status int, body string) {
	t.Helper()
	a, err := http.Get(url)
	require.NoError(t, err)
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	require.NoError(t, err)
	return a.StatusCode, string(text)
}

// TestManagement: operators have an address of their own, and neither address answers what
// is the other's.
func TestManagement(t *testing.T) {
	s := serve(t, t.TempDir(), []string{"LOYALTY_MANAGE=127.0.0.1:0"})
	at := managed(t, s)
	becomesReady(t, s, &caller{})
	for path, word := range map[string]string{
		"/livez": "ok\n", "/startupz": "started\n", "/readyz": "configuration_behind_ms", "/version": `"platform"`,
		"/metrics": "loyalty_build_info", "/debug/pprof/": "goroutine",
	} {
		status, body := fetch(t, at+path)
		require.Equal(t, http.StatusOK, status, path)
		require.Contains(t, body, word, path)
	}

	var build map[string]string
	_, body := fetch(t, at+"/version")
	require.NoError(t, json.Unmarshal([]byte(body), &build))
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap", "/version", "/startupz"} {
		status, _ := fetch(t, s.address+path)
		require.Equal(t, http.StatusUnauthorized, status, "the API's address answers %s", path)
	}

	for _, path := range []string{"/customers", "/openapi/events.yaml", "/"} {
		status, _ := fetch(t, at+path)
		require.Equal(t, http.StatusNotFound, status, "operators' address answers %s", path)
	}

	require.Equal(t, 0, s.stop(terminate), s.log())
}

// TestManagementOff: nothing listens where it is off, and the default address may be taken.
func TestManagementOff(t *testing.T) {
	off := serve(t, t.TempDir(), nil)
	becomesReady(t, off, &caller{})
	require.NotContains(t, off.log(), "management:")
	require.Equal(t, 0, off.stop(terminate), off.log())
	if l, err := net.Listen("tcp", "127.0.0.1:8081"); err == nil {
		defer l.Close()
	}
	taken := serve(t, t.TempDir(), []string{"LOYALTY_MANAGE="})
	becomesReady(t, taken, &caller{})
	require.Contains(t, taken.log(), "the management address is in use, so there are no metrics")
	require.Equal(t, 0, taken.stop(terminate), taken.log())
}

// TestManagementSettings: what is chosen must be possible, and open only where that is said.
func TestManagementSettings(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	for address, words := range map[string]string{
		"8081":              "is not host:port, nor off",
		"0.0.0.0:8081":      "LOYALTY_MANAGE_OPEN=true",
		":8081":             "LOYALTY_MANAGE_OPEN=true",
		"192.0.2.1:8081":    "LOYALTY_MANAGE_OPEN=true",
		"127.0.0.1:18080":   "the port of the API",
		l.Addr().String():   "address already in use",
		"127.0.0.1:metrics": "is not host:port",
	} {
		r := command(t, t.TempDir(), []string{"LOYALTY_LISTEN=127.0.0.1:18080", "LOYALTY_MANAGE=" + address})
		require.Equal(t, codeUsage, r.code, address)
		require.Regexp(t, `^loyalty: LOYALTY_MANAGE: [^\n]*\n$`, r.errors)
		require.Contains(t, r.errors, words)
	}

	open := serve(t, t.TempDir(), []string{"LOYALTY_MANAGE=0.0.0.0:0", "LOYALTY_MANAGE_OPEN=true"})
	becomesReady(t, open, &caller{})
	status, _ := fetch(t, managed(t, open)+"/metrics")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, 0, open.stop(terminate), open.log())
}
