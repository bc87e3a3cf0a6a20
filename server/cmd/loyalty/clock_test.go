package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// skewedCommand runs a command of the program with a clock that is off.
func skewedCommand(t *testing.T, g *ground, off string, env []string, args ...string) (code int, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Dir, cmd.Env = g.dir, clean(append(append(g.env, env...), clockOff+"="+off)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, string(out))
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// TestStartWithAClockThatJumped: on the embedded database a start whose clock is 400 days ahead lets
// nothing expire, also after a restart, until the clock is right or the operator says that it is.
func TestStartWithAClockThatJumped(t *testing.T) {
	t.Parallel()
	const ahead = "9600h"
	g := newGround(t, storetest.SQLiteForProgram(t))
	s := g.start(t)
	c := newCaller(t, g.key)
	enrol(t, c, s.address, "member-1001")
	for path, body := range map[string]string{
		"/admin/modules/points_economy": `{"enabled":true,"config":{"expiry":{"policy":"rolling","days":30}}}`,
	} {
		a := c.post(s.address, path, body, "")
		require.Equal(t, http.StatusOK, a.status, string(a.body))
	}

	require.Eventually(t, func() bool { // the configuration is followed within a second
		a := c.post(s.address, "/events", `{"customer":"member-1001","action":"point_add","data":{"points":5}}`, "")
		return a.status == http.StatusOK && strings.Contains(string(a.body), `"expdate":"20`)
	}, patience, 100*time.Millisecond)

	require.Equal(t, 0, s.stop(terminate), s.log())

	expired := func() (n int64) {
		require.NoError(t, storetest.Raw(t, g.url).QueryRow("SELECT sum(expired) FROM balances").Scan(&n))
		return n
	}

	for range 2 { // what the first start wrote at its own time tells the second one nothing
		code, text := skewedCommand(t, g, ahead, nil, "jobs", "run", "expiry")
		require.NotEqual(t, 0, code, text)
		require.Contains(t, text, "LOYALTY_CLOCK_TRUSTED=")
		require.Zero(t, expired())
	}

	r := command(t, g.dir, g.env, "doctor")
	require.Equal(t, 2, r.code, r.out)
	require.Contains(t, r.out, "LOYALTY_CLOCK_TRUSTED")

	succeeds(t, g.dir, g.env, "jobs", "run", "expiry")
	require.Zero(t, expired(), "the clock is right again, and nothing is due")
	require.NotContains(t, command(t, g.dir, g.env, "doctor").out, "LOYALTY_CLOCK_TRUSTED")

	// The test's clock moves and the database's does not, so that the step is all that is accepted here.
	day := time.Now().Add(9600 * time.Hour).Format(time.DateOnly)
	_, text := skewedCommand(t, g, ahead, []string{"LOYALTY_CLOCK_TRUSTED=" + day}, "jobs", "run", "expiry")
	require.NotContains(t, text, "known to be right")
	require.Contains(t, text, "ahead of the database's")

	code, text := skewedCommand(t, g, "0s", []string{"LOYALTY_CLOCK_TRUSTED=soon"}, "jobs", "run", "expiry")
	require.Equal(t, codeUsage, code, text)
	require.Contains(t, text, "LOYALTY_CLOCK_TRUSTED")
}
