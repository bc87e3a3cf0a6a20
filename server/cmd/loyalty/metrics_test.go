package main

import (
	"bytes"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"
)

// figures are the metrics of a running server, as Prometheus reads them.
type figures struct {
	text     []byte
	families map[string]*dto.MetricFamily
}

func scrape(t *testing.T, at string) figures {
	t.Helper()
	status, body := fetch(t, at+"/metrics")
	require.Equal(t, http.StatusOK, status)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	require.NoError(t, err)
	return figures{[]byte(body), families}
}

// value is a metric's with the given labels, name and value in turn; a histogram's is how
// often it was observed. found: there is one.
func (f figures) value(name string, labels ...string) (value float64, found bool) {
	family := f.families[name]
	if family == nil {
		return 0, false
	}

next:
	for _, m := range family.Metric {
		has := map[string]string{}
		for _, l := range m.Label {
			has[l.GetName()] = l.GetValue()
		}

		for i := 0; i < len(labels); i += 2 {
			if has[labels[i]] != labels[i+1] {
				continue next
			}
		}

		found = true
		switch {
		case m.Counter != nil:
			value += m.Counter.GetValue()
		case m.Gauge != nil:
			value += m.Gauge.GetValue()
		case m.Histogram != nil:
			value += float64(m.Histogram.GetSampleCount())
		}
	}

	return value, found
}

// series is how many time series there are.
func (f figures) series() (n int) {
	for _, line := range bytes.Split(f.text, []byte("\n")) {
		if len(line) > 0 && line[0] != '#' {
			n++
		}
	}
	return n
}

// withoutCount is the text without db_client_connection_count: the name is OpenTelemetry's, and no
// histogram, which Prometheus' own rules expect of it.
func (f figures) withoutCount() []byte {
	return regexp.MustCompile(`(?m)^(# \w+ )?db_client_connection_count\b.*\n`).ReplaceAll(f.text, nil)
}

// TestMetrics has a server do something and reads what it counted.
func TestMetrics(t *testing.T) {
	onBoth(t, anyPostgres, func(t *testing.T, g *ground) {
		g.env = append(g.env, "LOYALTY_MANAGE=127.0.0.1:0", "LOYALTY_LOG=text,info")
		s := g.start(t)
		c := newCaller(t, g.key)
		becomesReady(t, s, c)
		at := managed(t, s)
		require.Eventually(t, func() bool { _, sampled := scrape(t, at).value("loyalty_sampled_timestamp_seconds"); return sampled }, patience, 20*time.Millisecond)
		before := scrape(t, at)

		enrol(t, c, s.address, "canary-member")
		add := `{"customer":"canary-member","action":"point_add","data":{"points":7}}`
		require.Equal(t, 200, c.post(s.address, "/events", add, "canary-key").status)
		require.Equal(t, 200, c.post(s.address, "/events", add, "canary-key").status)
		require.Equal(t, 200, c.post(s.address, "/events", `{"customer":"canary-member","action":"point_spend","data":{"points":2}}`, "").status)
		require.Equal(t, 422, c.post(s.address, "/events", `{"customer":"canary-member","action":"point_spend","data":{"points":200}}`, "").status)
		require.Equal(t, 400, c.post(s.address, "/events", `{"customer":"canary-member","action":"canary_action","data":{}}`, "").status)
		require.Equal(t, 200, c.get(s.address+"/customers/canary-member").status)
		require.Equal(t, 404, c.get(s.address+"/customers/canary-nobody").status)
		require.Equal(t, 404, c.get(s.address+"/canary/path").status)
		require.Equal(t, 200, c.get(s.address+"/admin/ledger?verify=true").status)
		for range 3 {
			status, _ := fetch(t, s.address+"/customers/canary-member")
			require.Equal(t, http.StatusUnauthorized, status)
		}

		var after figures
		moved := func(by float64, name string, labels ...string) {
			t.Helper()
			old, _ := before.value(name, labels...)
			now, _ := after.value(name, labels...)
			require.InDelta(t, by, now-old, 1e-9, "%s %v\n%s", name, labels, after.text)
		}

		require.Eventually(t, func() bool { // the last answer is counted a moment after it was sent
			after = scrape(t, at)
			active, _ := after.value("http_server_active_requests")
			_, proven := after.value("loyalty_ledger_invariants", "verdict", "broken")
			return active == 0 && proven
		}, patience, 10*time.Millisecond)

		events := []string{"loyalty_api", "events", "http_request_method", "POST", "http_route", "/events", "http_response_status_code"}
		moved(1, "http_server_request_duration_seconds", append(events, "422")...)
		moved(1, "http_server_request_duration_seconds", append(events, "400")...)
		moved(1, "http_server_request_duration_seconds", "http_route", "/customers/{customer_id}", "http_response_status_code", "200")
		moved(1, "http_server_request_duration_seconds", "http_route", "/customers/{customer_id}", "http_response_status_code", "404")
		moved(3, "http_server_request_duration_seconds", "http_route", "", "http_response_status_code", "401")
		moved(1, "http_server_request_duration_seconds", "http_route", "", "http_response_status_code", "404")
		moved(0, "http_server_active_requests")
		moved(1, "loyalty_events_total", "action", "point_add", "outcome", "applied")
		moved(1, "loyalty_events_total", "action", "point_add", "outcome", "replayed")
		moved(1, "loyalty_events_total", "action", "point_spend", "outcome", "applied")
		moved(1, "loyalty_events_total", "action", "point_spend", "outcome", "refused")
		moved(7, "loyalty_points_total", "kind", "added")
		moved(2, "loyalty_points_total", "kind", "taken")
		moved(0, "loyalty_points_total", "kind", "expired")
		moved(0, "loyalty_batches_total", "outcome", "failed")
		for _, phase := range []string{"load", "decide", "write"} {
			count, _ := after.value("loyalty_batch_duration_seconds", "phase", phase)
			require.GreaterOrEqual(t, count, 4.0, phase)
		}

		refused, _ := after.value("loyalty_refusals_total")
		require.GreaterOrEqual(t, refused, 6.0)
		broken, verified := after.value("loyalty_ledger_invariants", "verdict", "broken")
		require.True(t, verified)
		require.Zero(t, broken)

		for _, check := range []string{"database", "writes", "configuration", "clock"} {
			ready, known := after.value("loyalty_ready", "check", check)
			require.True(t, known, check)
			require.InDelta(t, 1, ready, 0, check)
		}

		_, embedded := after.value("loyalty_database_log_bytes")
		require.Equal(t, strings.HasPrefix(g.url, "sqlite:"), embedded)
		size, onDisk := after.value("loyalty_disk_size_bytes")
		require.Equal(t, embedded, onDisk)
		free, _ := after.value("loyalty_disk_free_bytes")
		require.LessOrEqual(t, free, size)
		held, _ := after.value("loyalty_due_work_held")
		require.Zero(t, held)
		ahead, known := after.value("loyalty_clock_ahead_seconds")
		require.True(t, known)
		require.InDelta(t, 0, ahead, 5)
		for _, pool := range []string{"batches", "reads"} {
			most, _ := after.value("db_client_connection_max", "db_client_connection_pool_name", pool)
			require.Positive(t, most, pool)
			_, known := after.value("db_client_connection_wait_time_seconds", "db_client_connection_pool_name", pool)
			require.True(t, known, pool)
		}

		require.Eventually(t, func() bool {
			f := scrape(t, at)
			head, _ := f.value("loyalty_tail_head_events")
			last, _ := f.value("loyalty_job_last_success_timestamp_seconds", "job", "tail")
			runs, _ := f.value("loyalty_job_runs_total", "job", "tail", "outcome", "succeeded")
			lag, known := f.value("loyalty_feed_lag_seconds")
			return head >= 3 && last > 0 && runs > 0 && known && lag == 0
		}, patience, 100*time.Millisecond)

		after = scrape(t, at)
		problems, err := promlint.New(bytes.NewReader(after.withoutCount())).Lint()
		require.NoError(t, err)
		require.Empty(t, problems)
		require.LessOrEqual(t, after.series(), 4000)
		require.NotContains(t, string(after.text), "canary")
		require.NotContains(t, string(after.text), g.key.KeyID)
		require.Equal(t, 0, s.stop(terminate), s.log())
	})
}
