package observe

import (
	"errors"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine/traffic"
)

// Metrics are the program's metrics, with OpenTelemetry's names where it has one. No label has a customer, a key, a
// path or a message: each has few values, which the program knows.
type Metrics struct {
	registry *prometheus.Registry
	figures  *figures

	active    prometheus.Gauge
	durations *prometheus.HistogramVec
	refusals  *prometheus.CounterVec
	routes    sync.Map // of answered to prometheus.Observer
	kept      atomic.Int64

	size                prometheus.Observer
	phases              [3]prometheus.Observer // load, decide, write
	committed, conflict prometheus.Counter
	unknown, broke      prometheus.Counter
	events              *prometheus.CounterVec
	actions             map[string]*[outcomes]prometheus.Counter
	custom              *[outcomes]prometheus.Counter
	added, taken        prometheus.Counter
	expired             prometheus.Counter

	runs, items *prometheus.CounterVec
	runTime     *prometheus.HistogramVec

	attempts    *prometheus.CounterVec
	attemptTime *prometheus.HistogramVec
}

// scrapes bounds the callers that read the metrics at once.
const scrapes = 4

// maxRoutes bounds the pairs of route and status with a histogram of their own. Later pairs are counted together, under
// the route "other".
const maxRoutes = 180

// The outcomes of a submission.
const (
	applied = iota
	replayed
	refused
	failed
	outcomes
)

var outcomeNames = [outcomes]string{"applied", "replayed", "refused", "failed"}

// customAction stands for the actions that a programme declares, and for unknown ones.
const customAction = "custom"

// requestBuckets are those of OpenTelemetry's conventions, in seconds.
var requestBuckets = []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}

// NewMetrics makes the metrics, in a registry of their own. actions are the actions that are counted by name: all that
// the program knows.
func NewMetrics(b Build, actions []string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), figures: newFigures(),
		actions: map[string]*[outcomes]prometheus.Counter{}}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "loyalty_build_info", Help: "The program that runs; always 1.",
		ConstLabels: prometheus.Labels{"version": b.Version, "revision": b.Revision, "go": b.Go},
	})
	build.Set(1)
	m.registry.MustRegister(build, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), m.figures)
	m.requests()
	m.batches(actions)
	m.jobs()
	m.webhooks()
	return m
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(c)
	return c
}

func (m *Metrics) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	m.registry.MustRegister(h)
	return h
}

func (m *Metrics) requests() {
	m.active = prometheus.NewGauge(prometheus.GaugeOpts{Name: "http_server_active_requests", Help: "Requests under way."})
	m.registry.MustRegister(m.active)
	m.durations = m.histogram("http_server_request_duration_seconds",
		"How long requests took, by operation and status; http_route is empty for callers whose signature was not good.",
		requestBuckets, "loyalty_api", "http_request_method", "http_route", "http_response_status_code")
	m.refusals = m.counter("loyalty_refusals_total",
		"Requests that were answered with an error, by its code.", "code", "failure")
}

func (m *Metrics) batches(actions []string) {
	m.size = m.histogram("loyalty_batch_size", "Submissions of each transaction that was tried.",
		prometheus.ExponentialBuckets(1, 2, 8)).WithLabelValues()
	duration := m.histogram("loyalty_batch_duration_seconds",
		"How long the phases of a transaction took; write has the commit.",
		prometheus.ExponentialBuckets(0.0005, 2, 14), "phase")
	for i, phase := range []string{"load", "decide", "write"} {
		m.phases[i] = duration.WithLabelValues(phase)
	}

	tried := m.counter("loyalty_batches_total",
		"Transactions that were tried: committed; conflict, which are tried again; unknown, whose commit may have been lost; failed.", "outcome")
	m.committed, m.conflict = tried.WithLabelValues("committed"), tried.WithLabelValues("conflict")
	m.unknown, m.broke = tried.WithLabelValues("unknown"), tried.WithLabelValues("failed")
	m.events = m.counter("loyalty_events_total",
		"Events that were recorded (applied), those that follow from others included, and submissions that were not.",
		"action", "outcome")
	for _, a := range append(actions, customAction) {
		m.actions[a] = &[outcomes]prometheus.Counter{}
		m.actions[a][applied] = m.events.WithLabelValues(a, outcomeNames[applied])
	}

	m.custom = m.actions[customAction]
	points := m.counter("loyalty_points_total",
		"Points that came to spendable balances (added), left them (taken), or left them by their date (expired).", "kind")
	m.added, m.taken, m.expired = points.WithLabelValues("added"), points.WithLabelValues("taken"),
		points.WithLabelValues("expired")
}

func (m *Metrics) jobs() {
	m.runs = m.counter("loyalty_job_runs_total", "Runs of jobs that ended on this node.", "job", "outcome")
	m.items = m.counter("loyalty_job_items_total", "What the runs of jobs on this node did.", "job", "outcome")
	m.runTime = m.histogram("loyalty_job_duration_seconds", "How long the runs of jobs on this node took.",
		prometheus.ExponentialBuckets(0.01, 10, 6), "job")
}

// Handler answers /metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: scrapes, EnableOpenMetrics: true})
}

// answered is the key of a request's histogram.
type answered struct {
	api, method, route string
	status             int
}

// Began counts a request that arrived.
func (m *Metrics) Began() { m.active.Inc() }

// Answered counts an answered request.
func (m *Metrics) Answered(a api.Answered) {
	m.active.Dec()
	m.durationOf(answered{a.API, a.Method, a.Route, a.Status}).Observe(a.Took.Seconds())
	if a.Code != 0 {
		m.refusals.WithLabelValues(strconv.Itoa(a.Code), a.Failure).Inc()
	}
}

func (m *Metrics) durationOf(a answered) prometheus.Observer {
	if found, ok := m.routes.Load(a); ok {
		return found.(prometheus.Observer)
	}
	if m.kept.Add(1) > maxRoutes {
		a.api, a.route = "other", "other"
		return m.durations.WithLabelValues(a.api, a.method, a.route, strconv.Itoa(a.status))
	}
	h := m.durations.WithLabelValues(a.api, a.method, a.route, strconv.Itoa(a.status))
	m.routes.Store(a, h)
	return h
}

// Tried counts a transaction.
func (m *Metrics) Tried(a traffic.Attempt) {
	m.size.Observe(float64(a.Size))
	for i, took := range [...]time.Duration{a.Load, a.Decide, a.Write} {
		if took > 0 {
			m.phases[i].Observe(took.Seconds())
		}
	}

	switch {
	case a.Err == nil:
		m.committed.Inc()
	case errors.Is(a.Err, loyalty.ErrOutcomeUnknown):
		m.unknown.Inc()
	case errors.Is(a.Err, loyalty.ErrBatchConflict):
		m.conflict.Inc()
	default:
		m.broke.Inc()
	}
}

// Ended counts the outcome of a submission.
func (m *Metrics) Ended(action string, r *loyalty.Result) {
	switch {
	case r.Err == nil && r.Outcome.Replayed != nil:
		m.count(action, replayed)
	case r.Err == nil:
		for i := range r.Outcome.Events {
			m.recorded(&r.Outcome.Events[i])
		}
	case action == "": // applying what is due failed; the job counts it
	case isRefusal(r.Err):
		m.count(action, refused)
	default:
		m.count(action, failed)
	}
}

func isRefusal(err error) bool {
	kind := loyalty.AsError(err).Kind
	return kind != loyalty.Internal && kind != loyalty.Unavailable
}

func (m *Metrics) recorded(e *loyalty.Event) {
	of, known := m.actions[e.Action]
	if !known {
		of = m.custom
	}
	of[applied].Inc()
	switch {
	case e.Change > 0:
		m.added.Add(float64(e.Change))
	case e.Change < 0 && e.Action == "point_expire":
		m.expired.Add(float64(-e.Change))
	case e.Change < 0:
		m.taken.Add(float64(-e.Change))
	}
}

// count counts an event that was not recorded, which is rare.
func (m *Metrics) count(action string, outcome int) {
	if _, known := m.actions[action]; !known {
		action = customAction
	}
	m.events.WithLabelValues(action, outcomeNames[outcome]).Inc()
}

// JobEnded counts a run of a job.
func (m *Metrics) JobEnded(r loyalty.JobRow) {
	outcome := "succeeded"
	if r.Result != "" {
		outcome = "failed"
	}
	m.runs.WithLabelValues(r.Name, outcome).Inc()
	m.items.WithLabelValues(r.Name, "done").Add(float64(r.Done))
	m.items.WithLabelValues(r.Name, "failed").Add(float64(r.Failed))
	m.runTime.WithLabelValues(r.Name).Observe(max(0, r.FinishedAt.Sub(r.StartedAt)).Seconds())
}

func (m *Metrics) webhooks() {
	m.attempts = m.counter("loyalty_webhook_attempts_total",
		"Attempts of this node to deliver, by what the receiver made of them.", "webhook", "outcome")
	m.attemptTime = m.histogram("loyalty_webhook_duration_seconds", "How long the attempts of this node to deliver took.",
		prometheus.ExponentialBuckets(0.01, 3, 8), "outcome")
}

// Attempted counts an attempt to deliver. The platform allows at most a hundred webhooks.
func (m *Metrics) Attempted(webhook loyalty.ID, delivered bool, took time.Duration) {
	outcome := "failed"
	if delivered {
		outcome = "delivered"
	}
	m.attempts.WithLabelValues(webhook.String(), outcome).Inc()
	m.attemptTime.WithLabelValues(outcome).Observe(took.Seconds())
}
