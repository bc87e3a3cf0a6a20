package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// metric is a figure that is measured once in every round.
type metric struct {
	name string
	run  func(context.Context, *lab) (sample, error)
}

// metrics are in the order of a round: compared metrics are close together, because the machine's speed drifts.
func metrics() []metric {
	return append([]metric{
		pgbenchMetric("floor-16", 16, false),
		directMetric("pgx-16", 16, false, postOnce),
		directMetric("pgx-separate-16", 16, false, postSeparately),
		naiveMetric(workload{name: "naive-16", connections: 16}),
		serverMetric(workload{name: "server-16", connections: 16}),
		programmeMetric(workload{name: "programme-16", connections: 16}),
		serverMetric(workload{name: "server-checkout-16", connections: 16, action: "checkout", body: checkout}),
		programmeMetric(workload{name: "programme-checkout-16", connections: 16, action: "checkout", body: checkout}),
		sqliteMetric(workload{name: "sqlite-16", connections: 16}),
		pgbenchMetric("floor-64", 64, false),
		directMetric("pgx-64", 64, false, postOnce),
		naiveMetric(workload{name: "naive-64", connections: 64}),
		serverMetric(workload{name: "server-64", connections: 64}),
		pgbenchMetric("floor-hot-16", 16, true),
		directMetric("pgx-hot-16", 16, true, postOnce),
		naiveMetric(workload{name: "naive-hot-16", connections: 16, hot: true}),
		serverMetric(workload{name: "server-hot-16", connections: 16, hot: true}),
		naiveMetric(workload{name: "naive-bulk-4", connections: 4, events: 50}),
		serverMetric(workload{name: "server-bulk-4", connections: 4, events: 50}),
	}, append(signatureMetrics(), readMetrics()...)...)
}

func pgbenchMetric(name string, clients int, hot bool) metric {
	return metric{name, func(ctx context.Context, l *lab) (sample, error) { return l.floor.pgbench(ctx, clients, hot) }}
}

func directMetric(name string, goroutines int, hot bool, p post) metric {
	return metric{name, func(ctx context.Context, l *lab) (sample, error) {
		return l.floor.direct(ctx, goroutines, hot, p)
	}}
}

func naiveMetric(w workload) metric {
	w = w.complete()
	return metric{w.name, func(ctx context.Context, l *lab) (sample, error) { return l.naive.measure(ctx, w) }}
}

func serverMetric(w workload) metric {
	w = w.complete()
	return metric{w.name, func(ctx context.Context, l *lab) (sample, error) { return l.server.measure(ctx, w) }}
}

func programmeMetric(w workload) metric {
	w = w.complete()
	return metric{w.name, func(ctx context.Context, l *lab) (sample, error) { return l.programme.measure(ctx, w) }}
}

func sqliteMetric(w workload) metric {
	w = w.complete()
	return metric{w.name, func(ctx context.Context, l *lab) (sample, error) {
		s, err := l.sqlite.measure(ctx, w)
		s.database = 0 // it is inside the server
		return s, err
	}}
}

// readMetrics measure each read twice in a round, in SQL and directly afterwards over HTTP.
func readMetrics() (all []metric) {
	for _, r := range readList {
		all = append(all,
			metric{"read-" + r.name + "-sql",
				func(ctx context.Context, l *lab) (sample, error) { return l.reads.inSQL(ctx, r) }},
			metric{"read-" + r.name, func(ctx context.Context, l *lab) (sample, error) { return l.reads.inHTTP(ctx, r) }})
	}
	return all
}

func readComparisons() (all []comparison) {
	for _, r := range readList {
		all = append(all, comparison{title: r.title, of: "read-" + r.name, base: "read-" + r.name + "-sql", read: true,
			typical: true, targets: targets{3, 2}})
	}
	return all
}

// signatureMetrics measure the verification of a signed POST beside the unavoidable hashing. `go test -bench Verify
// ./signing` has the same in more detail.
func signatureMetrics() (all []metric) {
	for _, size := range []int{300, 15000} {
		name := fmt.Sprintf("signature-%d", size)
		all = append(all,
			metric{name + "-floor", func(context.Context, *lab) (sample, error) { return measureSignature(size, hashingOf) }},
			metric{name, func(context.Context, *lab) (sample, error) { return measureSignature(size, verifyingOf) }})
	}
	return all
}

// comparison is one row of the result: a metric against another of its round.
type comparison struct {
	title    string
	of, base string
	worst    bool // compares p99; less is better
	typical  bool // compares p50; less is better
	costs    bool // compares the time of one; less is better
	read     bool // a row of the table of reads: of is HTTP, base is SQL
	targets
}

// targets are the values that a figure has to reach: to be acceptable, and at best; 0: none.
type targets struct{ close, goal float64 }

// figure is the figure that a row compares.
func (c comparison) figure() func(sample) float64 {
	switch {
	case c.worst:
		return p99Of
	case c.typical:
		return p50Of
	case c.costs:
		return timeOf
	}
	return rateOf
}

// less reports whether the smaller figure is better.
func (c comparison) less() bool { return c.worst || c.typical || c.costs }

// comparisons are the rows of the result, with the project's targets.
func comparisons() []comparison {
	return append([]comparison{
		{title: "POST /events point_add, 16 connections", of: "server-16", base: "floor-16", targets: targets{0.60, 0.70}},
		{title: "same, 64 connections", of: "server-64", base: "floor-64", targets: targets{1.10, 1.50}},
		{title: "same, one hot customer, 16 connections", of: "server-hot-16", base: "floor-hot-16",
			targets: targets{3.0, 4.0}},
		{title: "checkout with 3 lines, 16 connections", of: "server-checkout-16", base: "floor-16",
			targets: targets{0.40, 0.50}},
		{title: "programme: point_add, 16 connections", of: "programme-16", base: "floor-16", targets: targets{0.45, 0.55}},
		{title: "programme: point_add against one without rules", of: "programme-16", base: "server-16"},
		{title: "programme: checkout with 3 lines, 16 connections", of: "programme-checkout-16", base: "floor-16",
			targets: targets{0.25, 0.35}},
		{title: "programme: checkout against one without rules", of: "programme-checkout-16", base: "server-checkout-16"},
		{title: "p99 at 64 connections against naive", of: "server-64", base: "naive-64", worst: true,
			targets: targets{0.15, 0.10}},
		{title: "bulk of 50, 4 connections, against naive", of: "server-bulk-4",
			base: "naive-bulk-4", targets: targets{5, 6}},
		{title: "embedded SQLite (FULL) against pgx, one statement", of: "sqlite-16", base: "pgx-16",
			targets: targets{0.5, 0.6}},
		{title: "naive, 16 connections", of: "naive-16", base: "floor-16"},
		{title: "naive, 64 connections", of: "naive-64", base: "floor-64"},
		{title: "naive, one hot customer, 16 connections", of: "naive-hot-16", base: "floor-hot-16"},
		{title: "naive, bulk of 50, 4 connections", of: "naive-bulk-4", base: "floor-16"},
		{title: "pgx, one statement, 16 goroutines", of: "pgx-16", base: "floor-16"},
		{title: "pgx, one statement, 64 goroutines on 16 connections", of: "pgx-64", base: "floor-64"},
		{title: "pgx, one statement, hot, 16 goroutines", of: "pgx-hot-16", base: "floor-hot-16"},
		{title: "pgx, statement a step, 16 goroutines", of: "pgx-separate-16", base: "floor-16"},
		{title: "F: pgbench, one statement, 16 clients", of: "floor-16", base: "floor-16"},
		{title: "F: pgbench, one statement, 64 clients", of: "floor-64", base: "floor-64"},
		{title: "F: pgbench, one statement, hot, 16 clients", of: "floor-hot-16", base: "floor-hot-16"},
		{title: "a signature of 300 octets against its hashing", of: "signature-300", base: "signature-300-floor",
			costs: true, targets: targets{1.35, 1.2}},
		{title: "a signature of 15,000 octets against its hashing", of: "signature-15000", base: "signature-15000-floor",
			costs: true, targets: targets{1.05, 1.03}},
		{title: "events of everybody: a page far down against the first (p50)", of: "read-events-deep", base: "read-events",
			typical: true, targets: targets{1.5, 1.2}},
	}, readComparisons()...)
}

// choose returns the metrics whose names begin with one of only (without any: all), and the metrics that they are
// compared with. SQLite must be enabled explicitly.
func choose(only []string, sqlite bool) []metric {
	wanted := map[string]bool{}
	for _, m := range metrics() {
		if strings.HasPrefix(m.name, "sqlite") && !sqlite {
			continue
		}
		wanted[m.name] = len(only) == 0 ||
			slices.ContainsFunc(only, func(prefix string) bool { return strings.HasPrefix(m.name, prefix) })
	}
	for _, c := range comparisons() {
		if wanted[c.of] {
			wanted[c.base] = true
		}
	}
	return slices.DeleteFunc(metrics(), func(m metric) bool { return !wanted[m.name] })
}
