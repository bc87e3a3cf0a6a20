package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHealthcheck: one line, and the exit code says it too.
func TestHealthcheck(t *testing.T) {
	s := serve(t, t.TempDir(), nil)
	becomesReady(t, s, &caller{})
	_, port, _ := strings.Cut(strings.TrimPrefix(s.address, "http://"), ":")
	for _, listen := range []string{"127.0.0.1:" + port, "0.0.0.0:" + port, ":" + port} {
		r := command(t, t.TempDir(), []string{"LOYALTY_LISTEN=" + listen, "HTTP_PROXY=http://127.0.0.1:1"}, "healthcheck")
		require.Equal(t, result{0, "ready\n", ""}, r, listen)
	}
	require.Equal(t, result{0, "ok\n", ""}, command(t, t.TempDir(), []string{"LOYALTY_LISTEN=127.0.0.1:" + port}, "healthcheck", "--live"))
	require.Equal(t, 0, s.stop(terminate), s.log())
	gone := command(t, t.TempDir(), []string{"LOYALTY_LISTEN=127.0.0.1:" + port}, "healthcheck")
	require.Equal(t, codeFailed, gone.code)
	require.Regexp(t, `^loyalty: [^\n]*connection refused\n$`, gone.errors)
	require.Equal(t, codeUsage, command(t, t.TempDir(), []string{"LOYALTY_LISTEN=127.0.0.1:0"}, "healthcheck").code)
}

// TestPrint: both need no settings.
func TestPrint(t *testing.T) {
	t.Setenv("LOYALTY_LISTEN", "nonsense")
	board := inside(t, "print", "grafana")
	require.Equal(t, 0, board.code, board.errors)
	require.True(t, json.Valid([]byte(board.out)))
	alerts := inside(t, "print", "alerts")
	require.Equal(t, 0, alerts.code, alerts.errors)
	require.Contains(t, alerts.out, "- alert: LoyaltyNotReady")
}
