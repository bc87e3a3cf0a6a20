//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestFaultImport kills an import again and again, while rows are stored and while they are
// done: in the end every lot is there once, and the sums are those of the files. The full
// length is 100,000 members with 300,000 lots.
func TestFaultImport(t *testing.T) {
	onBoth(t, durablePostgres, func(t *testing.T, g *ground) {
		members := full(t, 1_500, 100_000)
		var people, lots strings.Builder
		people.WriteString("customer,email,first_name\n")
		lots.WriteString("customer,points,earned_at,expires_at\n")
		sum, year := 0, time.Now().Year()
		for i := range members {
			fmt.Fprintf(&people, "%06d,m%d@example.com,Sample %d\n", i, i, i)
			for k := range 3 {
				fmt.Fprintf(&lots, "%06d,%d,%d-0%d-01,%s\n", i, i%500+k+1, year-1, k+1, []string{"", fmt.Sprintf("%d-12-31", year+1), fmt.Sprintf("%d-06-30", year+2)}[k])
				sum += i%500 + k + 1
			}
		}

		dir := t.TempDir()
		for name, text := range map[string]string{"members": people.String(), "lots": lots.String()} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}

		files := []string{"--members", filepath.Join(dir, "members"), "--lots", filepath.Join(dir, "lots")}
		up := command(t, g.dir, g.env, "migrate", "up")
		require.Equal(t, 0, up.code, up.errors)

		began, kills, most, pause := time.Now(), 0, full(t, 4, 10), 300*time.Millisecond
		for done := false; !done; {
			c := exec.Command(binary, append([]string{"import", "apply"}, files...)...)
			c.Dir, c.Env = g.dir, clean(g.env...)
			var log strings.Builder
			c.Stderr, c.Stdout = &log, &log
			require.NoError(t, c.Start())
			ended := make(chan error, 1)
			go func() { ended <- c.Wait() }()
			wait := pause + dice.within(500*time.Millisecond)
			if kills >= most {
				wait = time.Hour
			}

			select {
			case err := <-ended:
				require.NoError(t, err, log.String())
				done = true
			case <-time.After(wait):
				require.NoError(t, c.Process.Kill())
				<-ended
				kills++
				pause += 150 * time.Millisecond
			}
		}

		took := time.Since(began)
		r := command(t, g.dir, g.env, append([]string{"import", "reconcile"}, files...)...)
		require.Equal(t, 0, r.code, r.out+r.errors)
		require.Contains(t, r.out, fmt.Sprintf("%d rows, %d done, 0 refused", 4*members, 4*members))
		raw := storetest.Raw(t, g.url)
		var have, score, count int
		require.NoError(t, raw.QueryRow("SELECT COUNT(*), SUM(remaining) FROM lots").Scan(&count, &have))
		require.NoError(t, raw.QueryRow("SELECT SUM(score) FROM balances").Scan(&score))
		require.Equal(t, []int{3 * members, sum, sum}, []int{count, have, score})
		for _, proof := range [][]string{{"ledger", "verify"}, {"rebuild", "--verify"}} {
			r := command(t, g.dir, g.env, proof...)
			require.Equal(t, 0, r.code, r.out)
		}

		require.Positive(t, kills, "it was never killed at work")
		t.Logf("figures: an import of %d members with %d lots in %s, killed %d times at it", members, 3*members, took.Round(time.Millisecond), kills)
	})
}
