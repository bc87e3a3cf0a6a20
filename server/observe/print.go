package observe

import (
	_ "embed"
	"encoding/json"
)

// Alerts are rules for Prometheus, as YAML.
//
//go:embed alerts.yaml
var Alerts []byte

// panel is a graph of the dashboard: its title, its unit in Grafana's terms, and the series by their legend.
type panel struct {
	title, unit string
	series      [][2]string
}

const requests = "http_server_request_duration_seconds"

// panels are the dashboard, two in a row.
var panels = []panel{
	{"Requests by API", "reqps",
		[][2]string{{"{{loyalty_api}}", "sum by (loyalty_api) (rate(" + requests + "_count[$__rate_interval]))"}}},
	{"Errors by code", "reqps",
		[][2]string{{"{{code}} {{failure}}", "sum by (code, failure) (rate(loyalty_refusals_total[$__rate_interval]))"}}},
	{"Duration", "s", [][2]string{
		{"p50", "histogram_quantile(0.5, sum by (le) (rate(" + requests + "_bucket[$__rate_interval])))"},
		{"p99", "histogram_quantile(0.99, sum by (le) (rate(" + requests + "_bucket[$__rate_interval])))"},
	}},
	{"Requests under way, and waiting",
		"short", [][2]string{{"under way", "sum(http_server_active_requests)"},
			{"{{queue}}", "sum by (queue) (loyalty_queue_length)"}}},
	{"Events", "cps", [][2]string{{"{{action}} {{outcome}}",
		"sum by (action, outcome) (rate(loyalty_events_total[$__rate_interval])) > 0"}}},
	{"Points", "short", [][2]string{{"{{kind}}", "sum by (kind) (rate(loyalty_points_total[$__rate_interval]))"}}},
	{"Outstanding points", "short", [][2]string{{"points", "max(loyalty_outstanding_points)"}}},
	{"Phases of a batch, mean", "s", [][2]string{
		{"{{phase}}",
			"sum by (phase) (rate(loyalty_batch_duration_seconds_sum[$__rate_interval])) / sum by (phase) (rate(loyalty_batch_duration_seconds_count[$__rate_interval]))"},
	}},
	{"Batches", "cps", [][2]string{
		{"{{outcome}}", "sum by (outcome) (rate(loyalty_batches_total[$__rate_interval]))"},
		{"submissions in each",
			"sum(rate(loyalty_batch_size_sum[$__rate_interval])) / sum(rate(loyalty_batch_size_count[$__rate_interval]))"},
	}},
	{"Connections", "short", [][2]string{
		{"{{" + poolName + "}} {{db_client_connection_state}}",
			"sum by (" + poolName + ", db_client_connection_state) (db_client_connection_count)"},
		{"{{" + poolName + "}} most", "sum by (" + poolName + ") (db_client_connection_max)"},
	}},
	{"Waiting for a connection",
		"s", [][2]string{{"{{" + poolName + "}}",
			"sum by (" + poolName + ") (rate(db_client_connection_wait_time_seconds_sum[$__rate_interval]))"}}},
	{"Jobs: since the last success",
		"s", [][2]string{{"{{job}}", "time() - max by (job) (loyalty_job_last_success_timestamp_seconds)"}}},
	{"Jobs: failures", "short",
		[][2]string{{"{{job}}", "sum by (job) (increase(loyalty_job_items_total{outcome=\"failed\"}[$__rate_interval]))"}}},
	{"Due", "short", [][2]string{{"customers", "max(loyalty_due_customers)"},
		{"oldest, seconds", "max(loyalty_due_oldest_seconds)"}}},
	{"Tail", "short", [][2]string{{"{{follower}} behind", "max by (follower) (loyalty_tail_behind_events)"},
		{"{{instance}} unnumbered", "loyalty_tail_unnumbered_events"}}},
	{"Feed: seconds without a number", "s", [][2]string{{"{{instance}}", "loyalty_feed_lag_seconds"}}},
	{"Disk, free", "percentunit", [][2]string{{"{{instance}}", "loyalty_disk_free_bytes / loyalty_disk_size_bytes"}}},
	{"Ready", "short", [][2]string{{"{{instance}} {{check}}", "loyalty_ready"},
		{"{{instance}} due work held", "loyalty_due_work_held"}}},
	{"Clock ahead of the database's",
		"s", [][2]string{{"{{instance}}", "loyalty_clock_ahead_seconds"},
			{"{{instance}} configuration behind", "loyalty_configuration_behind_seconds"}}},
	{"Ledger, last verification", "short", [][2]string{{"{{verdict}}", "loyalty_ledger_invariants"}}},
	{"Since the ledger was proven", "s", [][2]string{{"", "time() - max(loyalty_ledger_verified_timestamp_seconds)"}}},
	{"Keys in use that end soon",
		"short", [][2]string{{"keys", "max(loyalty_keys_ending)"},
			{"days until the first ends", "(min(loyalty_key_end_timestamp_seconds) - time()) / 86400"}}},
	{"Since the last backup", "s", [][2]string{{"{{instance}}", "time() - loyalty_backup_last_timestamp_seconds"}}},
	{"Webhooks: attempts", "cps",
		[][2]string{{"{{outcome}}", "sum by (outcome) (rate(loyalty_webhook_attempts_total[$__rate_interval]))"}}},
	{"Webhooks: waiting", "short",
		[][2]string{{"{{webhook}} {{state}}", "max by (webhook, state) (loyalty_webhook_backlog)"},
			{"{{webhook}} oldest, seconds", "max by (webhook) (loyalty_webhook_oldest_seconds)"}}},
	{"Webhooks: duration", "s",
		[][2]string{{"p95",
			"histogram_quantile(0.95, sum by (le) (rate(loyalty_webhook_duration_seconds_bucket[$__rate_interval])))"}}},
	{"Memory and log", "bytes",
		[][2]string{{"{{instance}} memory", "process_resident_memory_bytes"},
			{"{{instance}} log", "loyalty_database_log_bytes"}}},
}

// Grafana is a dashboard in Grafana's import format.
func Grafana() ([]byte, error) {
	source := map[string]string{"type": "prometheus", "uid": "${source}"}
	list := make([]any, len(panels))
	for i, p := range panels {
		targets := make([]any, len(p.series))
		for n, s := range p.series {
			targets[n] = map[string]any{"refId": string(rune('A' + n)), "legendFormat": s[0], "expr": s[1], "datasource": source}
		}
		list[i] = map[string]any{
			"id": i + 1, "type": "timeseries", "title": p.title, "datasource": source, "targets": targets,
			"gridPos":     map[string]int{"h": 8, "w": 12, "x": i % 2 * 12, "y": i / 2 * 8},
			"fieldConfig": map[string]any{"defaults": map[string]any{"unit": p.unit, "min": 0}, "overrides": []any{}},
		}
	}

	return json.MarshalIndent(map[string]any{
		"title": "Loyalty", "uid": "loyalty", "tags": []string{"loyalty"}, "schemaVersion": 39,
		"refresh": "30s", "panels": list,
		"time": map[string]string{"from": "now-6h", "to": "now"},
		"templating": map[string]any{"list": []any{
			map[string]any{"name": "source", "label": "Source", "type": "datasource", "query": "prometheus"},
		}},
	}, "", "  ")
}
