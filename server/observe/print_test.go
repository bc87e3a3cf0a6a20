package observe

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/oasdiff/yaml"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine/traffic"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
)

// everything has each metric told once, and gives their names as a scrape has them.
func everything(t *testing.T) map[string]bool {
	t.Helper()
	m := NewMetrics(Build{}, nil)
	now := time.Now()
	run := loyalty.JobRow{Name: "tail", StartedAt: now, FinishedAt: now, Done: 1}
	m.Began()
	m.Answered(api.Answered{Status: 404, Code: 1, Failure: "x"})
	m.Tried(traffic.Attempt{Size: 1, Load: 1, Decide: 1, Write: 1})
	m.Ended("x", &loyalty.Result{Err: loyalty.ErrUnavailable})
	m.JobEnded(run)
	m.Attempted(loyalty.ID{}, true, time.Second)
	m.Look(func() Moment {
		return Moment{ClockKnown: true, DiskFree: 1, DiskSize: 2, Backups: true, Pools: []Pool{{Name: "reads"}}, Replicas: []Replica{{Name: "replica1", State: "ready"}}}
	})
	m.Sampled(Sample{At: now, Known: true, Outstanding: new(float64), Checks: map[string]bool{"clock": true}, Jobs: []job.Job{{JobRow: run}}, Behind: map[string]int64{"x": 1}, Webhooks: map[loyalty.ID]loyalty.WebhookBacklog{{}: {Oldest: now}},
		Proof: loyalty.LedgerVerification{At: now}, Keys: []loyalty.AccessKey{{ExpiresAt: now}}})
	families, err := m.registry.Gather()
	require.NoError(t, err)
	names := map[string]bool{}
	for _, f := range families {
		names[f.GetName()] = true
		if f.Metric[0].Histogram != nil {
			for _, part := range []string{"_bucket", "_sum", "_count"} {
				names[f.GetName()+part] = true
			}
		}
	}

	for _, d := range m.figures.all {
		name := regexp.MustCompile(`fqName: "([^"]*)"`).FindStringSubmatch(d.String())[1]
		require.True(t, names[name], "%s was not told", name)
	}

	return names
}

var (
	labelsOf = regexp.MustCompile(`\{[^}]*\}|\bby \([^)]*\)`)
	metricIn = regexp.MustCompile(`\b(?:http|db|loyalty|go|process)_[a-z_]+\b`)
)

// requireKnown: every metric that an expression names is there.
func requireKnown(t *testing.T, names map[string]bool, expr string) {
	t.Helper()
	found := metricIn.FindAllString(labelsOf.ReplaceAllString(expr, ""), -1)
	require.NotEmpty(t, found, expr)
	for _, name := range found {
		require.True(t, names[name], "%s: there is no metric %s", expr, name)
	}
	require.Equal(t, strings.Count(expr, "("), strings.Count(expr, ")"), expr)
}

// TestBoardNamesMetrics: the board is JSON, and names only what there is.
func TestBoardNamesMetrics(t *testing.T) {
	names := everything(t)
	text, err := Grafana()
	require.NoError(t, err)
	var board struct {
		Panels []struct {
			ID      int
			Targets []struct{ Expr string }
		}
	}

	require.NoError(t, json.Unmarshal(text, &board))
	require.Len(t, board.Panels, len(panels))
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			requireKnown(t, names, target.Expr)
		}
	}
}

// TestAlertsNameMetrics: the rules are YAML, and name only what there is.
func TestAlertsNameMetrics(t *testing.T) {
	names := everything(t)
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Labels      map[string]string
				Annotations map[string]string
			}
		}
	}

	_, err := yaml.Unmarshal(Alerts, &rules, yaml.DecodeOpts{})
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(rules.Groups[0].Rules), 9)
	for _, r := range rules.Groups[0].Rules {
		require.NotEmpty(t, r.Alert)
		require.Contains(t, []string{"page", "ticket"}, r.Labels["severity"], r.Alert)
		require.NotEmpty(t, r.Annotations["summary"], r.Alert)
		requireKnown(t, names, r.Expr)
	}
}

// TestSeriesAreBounded: a caller who makes up routes and statuses cannot create series without end.
func TestSeriesAreBounded(t *testing.T) {
	m := NewMetrics(Build{}, nil)
	for i := range 10 * maxRoutes {
		m.Began()
		m.Answered(api.Answered{Method: "GET", Route: "/" + strings.Repeat("x", i), Status: 200})
		m.Ended(strings.Repeat("x", i), &loyalty.Result{Err: loyalty.ErrCustomerNotFound})
	}
	families, err := m.registry.Gather()
	require.NoError(t, err)
	for _, f := range families {
		require.LessOrEqual(t, len(f.Metric), maxRoutes+1, f.GetName())
	}
}
