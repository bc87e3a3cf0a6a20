package observe

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
)

// Moment are the current figures that cost nothing to read. They are read when the metrics are read.
type Moment struct {
	Light, Heavy int // submissions that wait for a worker
	Pools        []Pool
	// Replicas are the standbys that answer reads, and PrimaryReads the number of their reads that the primary
	// answered.
	Replicas     []Replica
	PrimaryReads int64
	// ClockAhead is how far this node's clock is ahead of the database's, if ClockKnown.
	ClockAhead time.Duration
	ClockKnown bool
	// DueHeld: this node applies nothing that is due, because its clock is wrong.
	DueHeld bool
	// Behind is for how long the configuration has not been followed.
	Behind time.Duration
	// LogBytes is the size of SQLite's write-ahead log; negative: the database has none.
	LogBytes int64
	// Unnumbered are events that this node committed and that have no number in the tail yet.
	Unnumbered int
	// FeedLag is the age of the oldest of them.
	FeedLag time.Duration
	// DiskFree and DiskSize are bytes of the disk with the embedded database; 0: unknown.
	DiskFree, DiskSize uint64
	// Backups: this node has a folder for backups. LastBackup is when the last one in it was made; zero: there is none.
	Backups    bool
	LastBackup time.Time
}

// Pool is the usage of a pool of connections.
type Pool struct {
	Name             string
	Used, Idle, Most int
	Waits            int64
	Waited           time.Duration
}

// Replica is a standby of the database that answers reads.
type Replica struct {
	Name, State string
	Lag         time.Duration // negative: unknown
	Reads, Lost int64
}

// Sample is the last result of the job that examines the database from time to time, so that reading the metrics needs
// no database.
type Sample struct {
	At     time.Time
	Known  bool            // the database answered for the fields after Checks
	Checks map[string]bool // of readiness, by their names
	Jobs   []job.Job
	// Due counts customers with something due, Oldest is since when.
	Due    int64
	Oldest time.Time
	Head   int64            // the last number of the tail
	Behind map[string]int64 // events that each follower has yet to read
	// Outstanding are the points of all members at the statistics' last snapshot; nil: there is none.
	Outstanding *float64
	// Webhooks are the undelivered messages by webhook.
	Webhooks map[loyalty.ID]loyalty.WebhookBacklog
	// Proof is the last verification of the ledger, on any node; At is zero if there is none.
	Proof loyalty.LedgerVerification
	// Keys are the used access keys that end soon.
	Keys []loyalty.AccessKey
}

// figures are gauges that are computed when they are read.
type figures struct {
	moment  atomic.Pointer[func() Moment]
	sample  atomic.Pointer[Sample]
	success map[string]time.Time // of each job; used only by Sampled
	succeed atomic.Pointer[map[string]time.Time]
	all     []*prometheus.Desc

	waiting, connections, most, waited            *prometheus.Desc
	skew, held, behind, logBytes, unnumbered      *prometheus.Desc
	sampled, ready, due, oldest, head, tailBehind *prometheus.Desc
	jobSuccess, jobFinished, jobEvery, jobFailed  *prometheus.Desc
	ledger, ledgerAt, backup                      *prometheus.Desc
	backlog, webhookOldest, outstanding           *prometheus.Desc
	keysEnding, keyEnds                           *prometheus.Desc
	reads, lost, replica, replicaLag              *prometheus.Desc
	feedLag, diskFree, diskSize                   *prometheus.Desc
}

// poolName is OpenTelemetry's name of the label.
const poolName = "db_client_connection_pool_name"

func newFigures() *figures {
	f := &figures{success: map[string]time.Time{}}
	name := func(name, help string, labels ...string) *prometheus.Desc {
		d := prometheus.NewDesc(name, help, labels, nil)
		f.all = append(f.all, d)
		return d
	}

	f.waiting = name("loyalty_queue_length", "Submissions that wait for a worker.", "queue")
	f.connections = name("db_client_connection_count", "Connections to the database.", poolName,
		"db_client_connection_state")
	f.most = name("db_client_connection_max", "The most connections that a pool may have.", poolName)
	f.waited = name("db_client_connection_wait_time_seconds",
		"How long connections were waited for, by those who had to wait.", poolName)
	f.skew = name("loyalty_clock_ahead_seconds", "How far this node's clock is ahead of the database's.")
	f.held = name("loyalty_due_work_held",
		"1: this node applies nothing that is due and does no job, because its clock is wrong.")
	f.behind = name("loyalty_configuration_behind_seconds", "For how long the configuration has not been followed.")
	f.logBytes = name("loyalty_database_log_bytes", "The size of the embedded database's log.")
	f.feedLag = name("loyalty_feed_lag_seconds",
		"How old the oldest event is that this node committed and that has no number in the feed; 0: each has one.")
	f.diskFree = name("loyalty_disk_free_bytes", "What is free of the disk that the embedded database lies on.")
	f.diskSize = name("loyalty_disk_size_bytes", "The size of that disk.")
	f.unnumbered = name("loyalty_tail_unnumbered_events",
		"Events that this node committed and that have no number in the tail yet.")
	f.sampled = name("loyalty_sampled_timestamp_seconds", "When the database was last asked for the figures that follow.")
	f.ready = name("loyalty_ready", "1: the check of readiness passes.", "check")
	f.due = name("loyalty_due_customers", "Customers for whom something is due, counted to 10000.")
	f.oldest = name("loyalty_due_oldest_seconds", "For how long the oldest work that is due has been waiting.")
	f.head = name("loyalty_tail_head_events", "Events in the tail: its last number.")
	f.tailBehind = name("loyalty_tail_behind_events", "Events of the tail that a follower has before it.", "follower")
	f.outstanding = name("loyalty_outstanding_points",
		"Points that members held, free or reserved, at the last photograph of the statistics, which is made every hour.")
	f.jobSuccess = name("loyalty_job_last_success_timestamp_seconds",
		"When a job was last seen to have ended without a failure, on whichever node.", "job")
	f.jobFinished = name("loyalty_job_last_run_timestamp_seconds", "When a job last ended, on whichever node.", "job")
	f.jobEvery = name("loyalty_job_interval_seconds", "How long after its end a job is due again.", "job")
	f.jobFailed = name("loyalty_job_last_failed_items",
		"What failed in the last run of a job, or in the one under way, on whichever node.", "job")
	f.ledger = name("loyalty_ledger_invariants",
		"The result of the last verification of the ledger, on whichever node.", "verdict")
	f.ledgerAt = name("loyalty_ledger_verified_timestamp_seconds", "When that was; 0: there was none.")
	f.keysEnding = name("loyalty_keys_ending", "Access keys that were used within seven days and end within 14.")
	f.keyEnds = name("loyalty_key_end_timestamp_seconds", "When the first of these ends; absent: there are none.")
	f.backup = name("loyalty_backup_last_timestamp_seconds",
		"When the last backup in this node's folder was made; 0: there is none.")
	f.backlog = name("loyalty_webhook_backlog",
		"Deliveries of a webhook that wait or are dead, and events of the feed that it has before it (unread).", "webhook",
		"state")
	f.webhookOldest = name("loyalty_webhook_oldest_seconds",
		"For how long the oldest delivery of a webhook has been waiting; 0: none does.", "webhook")
	f.reads = name("loyalty_database_reads_total",
		"Reads that a replica may answer, by who answered them: primary, replica1, …; only where there are replicas.",
		"target")
	f.lost = name("loyalty_replica_lost_reads_total",
		"Reads that a replica was asked for and that the primary answered, because it was behind or failed.", "replica")
	f.replica = name("loyalty_replica_ready",
		"1: the replica answers reads; state says how it is: ready, behind (lists only), away, promoted, foreign (another log) or unknown.", "replica", "state")
	f.replicaLag = name("loyalty_replica_lag_seconds",
		"How far a replica is behind the primary, where that is known.", "replica")
	return f
}

// Look sets the source of the current figures.
func (m *Metrics) Look(look func() Moment) { m.figures.moment.Store(&look) }

// Sampled stores a sample. Only one goroutine may call it.
func (m *Metrics) Sampled(s Sample) {
	f := m.figures
	known := make(map[string]time.Time, len(s.Jobs))
	for i := range s.Jobs {
		j := &s.Jobs[i]
		if j.Result == "" && j.Owner == "" && !j.FinishedAt.IsZero() {
			f.success[j.Name] = j.FinishedAt
		}
	}
	for name, at := range f.success {
		known[name] = at
	}
	f.succeed.Store(&known)
	f.sample.Store(&s)
}

// Describe names the figures.
func (f *figures) Describe(to chan<- *prometheus.Desc) {
	for _, d := range f.all {
		to <- d
	}
}

// emit sends figures to a scrape.
type emit chan<- prometheus.Metric

func (e emit) gauge(d *prometheus.Desc, value float64, labels ...string) {
	e <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

func (e emit) counter(d *prometheus.Desc, value float64, labels ...string) {
	e <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, value, labels...)
}

// Collect sends the figures and leaves out unknown ones.
func (f *figures) Collect(to chan<- prometheus.Metric) {
	e := emit(to)
	if look := f.moment.Load(); look != nil {
		f.now(e, (*look)())
	}
	if s := f.sample.Load(); s != nil {
		f.found(e, s)
	}
}

func (f *figures) now(e emit, m Moment) {
	e.gauge(f.waiting, float64(m.Light), "light")
	e.gauge(f.waiting, float64(m.Heavy), "heavy")
	for _, p := range m.Pools {
		e.gauge(f.connections, float64(p.Used), p.Name, "used")
		e.gauge(f.connections, float64(p.Idle), p.Name, "idle")
		e.gauge(f.most, float64(p.Most), p.Name)
		e <- prometheus.MustNewConstHistogram(f.waited, uint64(max(0, p.Waits)), p.Waited.Seconds(), nil, p.Name)
	}

	f.replicas(e, m)
	if m.ClockKnown {
		e.gauge(f.skew, m.ClockAhead.Seconds())
	}

	e.gauge(f.held, truth(m.DueHeld))
	e.gauge(f.behind, m.Behind.Seconds())
	if m.LogBytes >= 0 {
		e.gauge(f.logBytes, float64(m.LogBytes))
	}

	e.gauge(f.unnumbered, float64(m.Unnumbered))
	e.gauge(f.feedLag, m.FeedLag.Seconds())
	if m.DiskSize > 0 {
		e.gauge(f.diskFree, float64(m.DiskFree))
		e.gauge(f.diskSize, float64(m.DiskSize))
	}

	switch {
	case m.LastBackup.IsZero() && m.Backups:
		e.gauge(f.backup, 0)
	case m.Backups:
		e.gauge(f.backup, instant(m.LastBackup))
	}
}

func (f *figures) replicas(e emit, m Moment) {
	for _, r := range m.Replicas {
		e.counter(f.reads, float64(r.Reads), r.Name)
		e.counter(f.lost, float64(r.Lost), r.Name)
		e.gauge(f.replica, truth(r.State == "ready" || r.State == "behind"), r.Name, r.State)
		if r.Lag >= 0 {
			e.gauge(f.replicaLag, r.Lag.Seconds(), r.Name)
		}
	}
	if len(m.Replicas) > 0 {
		e.counter(f.reads, float64(m.PrimaryReads), "primary")
	}
}

func (f *figures) found(e emit, s *Sample) {
	for check, passes := range s.Checks {
		e.gauge(f.ready, truth(passes), check)
	}

	for name, at := range *f.succeed.Load() {
		e.gauge(f.jobSuccess, instant(at), name)
	}

	if !s.Known {
		return
	}

	e.gauge(f.sampled, instant(s.At))
	e.gauge(f.due, float64(s.Due))
	late := time.Duration(0)
	if !s.Oldest.IsZero() {
		late = s.At.Sub(s.Oldest)
	}

	e.gauge(f.oldest, late.Seconds())
	e.gauge(f.head, float64(s.Head))
	if s.Outstanding != nil {
		e.gauge(f.outstanding, *s.Outstanding)
	}

	for follower, events := range s.Behind {
		e.gauge(f.tailBehind, float64(events), follower)
	}

	for id, b := range s.Webhooks {
		webhook, late := id.String(), time.Duration(0)
		if !b.Oldest.IsZero() {
			late = s.At.Sub(b.Oldest)
		}
		e.gauge(f.backlog, float64(b.Waiting), webhook, "waiting")
		e.gauge(f.backlog, float64(b.Dead), webhook, "dead")
		e.gauge(f.backlog, float64(b.Behind), webhook, "unread")
		e.gauge(f.webhookOldest, late.Seconds(), webhook)
	}

	f.proven(e, s)
	for i := range s.Jobs {
		j := &s.Jobs[i]
		e.gauge(f.jobEvery, j.Interval.Seconds(), j.Name)
		e.gauge(f.jobFailed, float64(j.Failed), j.Name)
		if !j.FinishedAt.IsZero() {
			e.gauge(f.jobFinished, instant(j.FinishedAt), j.Name)
		}
	}
}

// proven sends the figures of the ledger's proof and of keys.
func (f *figures) proven(e emit, s *Sample) {
	if v := &s.Proof; v.At.IsZero() {
		e.gauge(f.ledgerAt, 0)
	} else {
		e.gauge(f.ledger, float64(v.Held), "held")
		e.gauge(f.ledger, float64(v.Broken), "broken")
		e.gauge(f.ledger, float64(v.Unchecked), "unchecked")
		e.gauge(f.ledgerAt, instant(v.At))
	}
	e.gauge(f.keysEnding, float64(len(s.Keys)))
	if len(s.Keys) > 0 {
		first := slices.MinFunc(s.Keys, func(a, b loyalty.AccessKey) int { return a.ExpiresAt.Compare(b.ExpiresAt) })
		e.gauge(f.keyEnds, instant(first.ExpiresAt))
	}
}

func instant(at time.Time) float64 { return float64(at.UnixMilli()) / 1000 }

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
