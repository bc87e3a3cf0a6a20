//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFaultNumberingCost sends events over 64 connections and tells what part of the program's processor
// time goes into giving them their numbers in the feed. Time of the clock would tell more of what else
// the machine does.
func TestFaultNumberingCost(t *testing.T) {
	measures(t)
	onBoth(t, durablePostgres, func(t *testing.T, g *ground) {
		g.env = append(g.env, "LOYALTY_MANAGE=127.0.0.1:0", "LOYALTY_LOG=text,info")
		c, s := newCaller(t, g.key), g.start(t)
		becomesReady(t, s, c)
		at := managed(t, s)
		const customers = 250
		pile(t, c, s.address, customers, customers, customers)
		var rates, shares []float64
		for range full(t, 1, 5) {
			each := time.Duration(full(t, 4, 20)) * time.Second
			file := filepath.Join(t.TempDir(), "profile")
			profiled := make(chan error, 1)
			go func() {
				profiled <- download(fmt.Sprintf("%s/debug/pprof/profile?seconds=%d", at, int(each.Seconds())-1), file)
			}()
			rates = append(rates, float64(flatOut(t, g, s.address, customers, each))/each.Seconds())
			require.NoError(t, <-profiled)
			shares = append(shares, shareOf(t, file, `tailStore\)?\.Number|tail\.\(\*Tail\)\.Keep|tail\.Watch`))
		}

		t.Logf("figures: numbering: events a second %.0f, percent of the program's processor time %.1f", rates, shares)
		require.Equal(t, 0, s.stop(terminate), s.log())
	})
}

// download gets a file.
func download(url, file string) error {
	a, err := http.Get(url) //nolint:gosec,noctx // of this machine
	if err != nil {
		return err
	}
	defer func() { _ = a.Body.Close() }()
	body, err := io.ReadAll(a.Body)
	if err == nil && a.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", a.StatusCode, body)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(file, body, 0o600)
}

// shareOf is how many percent of a profile's time go into functions, and into what they call.
func shareOf(t *testing.T, profile, functions string) float64 {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "tool", "pprof", "-top", "-focus", functions, profile).CombinedOutput()
	require.NoError(t, err, string(out))
	m := regexp.MustCompile(`Showing nodes accounting for \S+, ([\d.]+)% of `).FindSubmatch(out)
	require.NotNil(t, m, string(out))
	share, err := strconv.ParseFloat(string(m[1]), 64)
	require.NoError(t, err)
	return share
}
