//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oasdiff/yaml"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
)

// promtool has Prometheus' own checker judge something, and gives what it says.
func promtool(t *testing.T, input string, args ...string) string {
	t.Helper()
	path, missing := exec.LookPath("promtool")
	if missing != nil {
		if os.Getenv("LOYALTY_REQUIRE_TOOLS") == "1" {
			require.NoError(t, missing, "promtool is needed: apt-get install prometheus")
		}
		t.Skip("SKIPPED, NOT PASSED: there is no promtool; Prometheus has not judged metrics, alerts and board (apt-get install prometheus)")
	}
	c := exec.CommandContext(t.Context(), path, args...)
	c.Stdin = strings.NewReader(input)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// scrapedAfterDemo is what a server over the demonstration's programme tells when every
// operation of the documents that reads was asked for once, and how long it takes to tell it.
func scrapedAfterDemo(t *testing.T) (f figures, took []time.Duration) {
	t.Helper()
	dir := t.TempDir()
	r := command(t, dir, nil, "demo", "--quiet", "--customers", fmt.Sprint(full(t, 30, 1000)), "--events", fmt.Sprint(full(t, 400, 20_000)))
	require.Equal(t, 0, r.code, r.errors)
	g := &ground{dir: dir}
	g.key = g.newKey(t)
	s := serve(t, dir, []string{"LOYALTY_MANAGE=127.0.0.1:0", "LOYALTY_LOG=text,info"})
	c := newCaller(t, g.key)
	becomesReady(t, s, c)
	asked := 0
	for _, api := range openapi.Names() {
		document, err := openapi.Load(api)
		require.NoError(t, err)
		for path, item := range document.Paths.Map() {
			if item.Get == nil {
				continue
			}
			a := c.get(s.address + openapi.ExamplePath(path, item.Get.Parameters, nil))
			require.NoError(t, a.err, path)
			asked++
		}
	}

	require.Greater(t, asked, 80)
	enrol(t, c, s.address, "member-of-the-test")
	require.Equal(t, http.StatusOK, c.post(s.address, "/events", `{"customer":"member-of-the-test","action":"point_add","data":{"points":7}}`, "").status)
	at := managed(t, s)
	require.Eventually(t, func() bool { _, sampled := scrape(t, at).value("loyalty_sampled_timestamp_seconds"); return sampled }, patience, 20*time.Millisecond)
	for range 21 {
		began := time.Now()
		status, _ := fetch(t, at+"/metrics")
		took = append(took, time.Since(began))
		require.Equal(t, http.StatusOK, status)
	}

	slices.Sort(took)
	f = scrape(t, at)
	require.Equal(t, 0, s.stop(terminate), s.log())
	return f, took
}

// TestScrape: what a server tells over a full programme is bounded, and Prometheus has nothing
// to say against it. How long it takes is told, and asserted nowhere.
func TestScrape(t *testing.T) {
	t.Parallel()
	f, took := scrapedAfterDemo(t)
	require.LessOrEqual(t, f.series(), 4000)
	t.Logf("figures: %d series in %d kB; a scrape takes %s, of 21 at most %s", f.series(), len(f.text)>>10, took[len(took)/2], took[len(took)-1])
	require.Empty(t, promtool(t, string(f.withoutCount()), "check", "metrics"))
}

// TestPromtool: Prometheus takes the alerts, and every expression of the board.
func TestPromtool(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	alerts := filepath.Join(dir, "alerts.yaml")
	succeeds(t, dir, nil, "print", "alerts", "--output", alerts)
	require.Contains(t, promtool(t, "", "check", "rules", "--lint-fatal", alerts), "SUCCESS")

	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}

	require.NoError(t, json.Unmarshal([]byte(succeeds(t, dir, nil, "print", "grafana")), &board))
	type rule struct {
		Record string `json:"record"`
		Expr   string `json:"expr"`
	}

	var rules []rule // Prometheus has no other command that reads an expression
	for i, p := range board.Panels {
		for k, target := range p.Targets {
			expr := strings.NewReplacer("$__rate_interval", "5m", "$__range", "1h", "$__interval", "1m").Replace(target.Expr)
			require.NotContains(t, expr, "$", p.Title)
			rules = append(rules, rule{fmt.Sprintf("board:panel_%d:%d", i, k), expr})
		}
	}

	require.NotEmpty(t, rules)
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "board", "rules": rules}}})
	require.NoError(t, err)
	path := filepath.Join(dir, "board.yaml")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	require.Contains(t, promtool(t, "", "check", "rules", "--lint-fatal", path), fmt.Sprintf("SUCCESS: %d rules found", len(rules)))
}
