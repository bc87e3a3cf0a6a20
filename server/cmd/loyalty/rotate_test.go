//go:build unix

package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store"
)

// TestRotateMaster changes the master key beside a server that serves on, with kills in the
// middle: answers, personal data and access keys open all the time, and in the end with the new
// key alone.
func TestRotateMaster(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		old, next := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
		r := command(t, g.dir, g.env, "demo", "--quiet", "--customers", "400", "--events", "2000")
		require.Equal(t, 0, r.code, r.errors)
		url := g.env[0]
		with := func(key, before string) []string {
			env := []string{url, "LOYALTY_MASTER_KEY=" + key, "LOYALTY_LOG=text,warn"}
			if before != "" {
				env = append(env, "LOYALTY_MASTER_KEY_OLD="+before)
			}
			return env
		}

		r = command(t, g.dir, with(next, ""), "keys", "list")
		require.Equal(t, 2, r.code)
		require.Equal(t, "loyalty: LOYALTY_MASTER_KEY is not the key that this database was sealed with\n", r.errors)

		g.env = with(next, old)
		s := g.start(t)
		c := newCaller(t, g.key)
		n := 0
		enrolled := func() {
			n++
			who := fmt.Sprintf("late-%d", n)
			enrol(t, c, s.address, who)
			body := `{"customer":"` + who + `","action":"point_add","data":{"points":5}}`
			for range 2 { // the second is the first one's answer
				a := c.post(s.address, "/events", body, "key-"+who)
				require.Equal(t, http.StatusOK, a.status, string(a.body))
			}
			a := c.get("http://" + strings.TrimPrefix(s.address, "http://") + "/customers/" + who + "/points")
			require.Equal(t, http.StatusOK, a.status, string(a.body))
			require.Contains(t, string(a.body), `"score":5,`)
		}

		enrolled()
		for visits := 1; visits <= 2; visits++ { // the secrets of access keys are sealed anew; then the customers' keys too
			cmd := exec.Command(os.Args[0], "keys", "rotate-master")
			cmd.Dir, cmd.Env = g.dir, clean(append(with(next, old), fmt.Sprintf("%s=%s=1", diesAt, store.ValuesSealed))...)
			require.Error(t, cmd.Run())
			require.Equal(t, -1, cmd.ProcessState.ExitCode(), "it was killed")
			enrolled()
			r = command(t, g.dir, with(next, ""), "keys", "list")
			require.Equal(t, 2, r.code, "what is left needs the old key")
			require.NotContains(t, succeeds(t, g.dir, with(next, old), "keys", "list"), "unreadable")
			r = command(t, g.dir, with(next, old), "doctor")
			require.Regexp(t, `master key +warning +the previous master key is still needed.*\n +loyalty keys rotate-master\n`, r.out)
		}

		out := succeeds(t, g.dir, with(next, old), "keys", "rotate-master")
		m := regexp.MustCompile(`^(\d+) values were sealed under the new key, (\d+) already were\.`).FindStringSubmatch(out)
		require.NotNil(t, m, out)
		require.NotEqual(t, "0", m[2], "it went on where it was killed: %s", out)
		t.Log(out)
		require.Regexp(t, `master key +fine`, command(t, g.dir, with(next, old), "doctor").out)
		enrolled()
		require.Equal(t, 0, s.stop(terminate), s.log())

		g.env = with(next, "")
		s = g.start(t)
		enrolled()
		a := c.post(s.address, "/events", `{"customer":"late-1","action":"point_add","data":{"points":5}}`, "key-late-1")
		require.True(t, a.replayed(), "an answer of before is found: its name is hashed as it was")
		require.Equal(t, 0, s.stop(terminate), s.log())
		r = command(t, g.dir, with(old, ""), "keys", "list")
		require.Equal(t, 2, r.code)
		require.Contains(t, r.errors, "LOYALTY_MASTER_KEY is not the key")
		succeeds(t, g.dir, with(next, ""), "ledger", "verify")
		s = g.start(t)
		audit := c.get("http://" + strings.TrimPrefix(s.address, "http://") + "/admin/audit?action=master_key.rotate")
		require.Equal(t, 1, strings.Count(string(audit.body), `"action":"master_key.rotate"`), string(audit.body))
		require.Contains(t, string(audit.body), `"key_id":"command line"`)
		require.Equal(t, 0, s.stop(terminate), s.log())
	})
}

// TestRotateEmbedded: beside the embedded database the keys are files.
func TestRotateEmbedded(t *testing.T) {
	dir, key := demoed(t)
	r := command(t, dir, nil, "keys", "rotate-master")
	require.Equal(t, 1, r.code)
	require.Contains(t, r.errors, "LOYALTY_MASTER_KEY_OLD is not set")
	require.NoError(t, os.Rename(key, key+".old"))
	require.NoError(t, os.WriteFile(key, []byte(strings.Repeat("cd", 32)+"\n"), 0o600))
	before := succeeds(t, dir, nil, "keys", "list")
	require.Regexp(t, `^\d+ values were sealed under the new key, 0 already were\.`, succeeds(t, dir, nil, "keys", "rotate-master"))
	require.NoError(t, os.Remove(filepath.Join(dir, "data", masterKeyFile+".old")))
	require.Equal(t, before, succeeds(t, dir, nil, "keys", "list"))
	r = command(t, dir, []string{"LOYALTY_MASTER_KEY=" + strings.Repeat("ab", 32), "LOYALTY_MASTER_KEY_OLD=" + strings.Repeat("ab", 32)}, "keys", "list")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.errors, "LOYALTY_MASTER_KEY_OLD: is the same")
}
