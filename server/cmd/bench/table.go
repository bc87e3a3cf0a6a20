package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// results are the samples by metric, one for each round.
type results map[string][]sample

// ratios compares a row's two metrics round by round.
func (r results) ratios(c comparison) []float64 {
	var ratios []float64
	for i, of := range r[c.of] {
		if i >= len(r[c.base]) {
			break
		}
		base := r[c.base][i]
		if a, b := c.figure()(of), c.figure()(base); b > 0 {
			ratios = append(ratios, a/b)
		}
	}
	return ratios
}

// middle is the median of one figure over the rounds.
func (r results) middle(metric string, figure func(sample) float64) float64 {
	values := make([]float64, 0, len(r[metric]))
	for _, s := range r[metric] {
		values = append(values, figure(s))
	}
	return median(values)
}

func rateOf(s sample) float64 { return s.rate }
func p50Of(s sample) float64  { return s.p50 }
func p99Of(s sample) float64  { return s.p99 }
func idleOf(s sample) float64 { return s.idle }

// timeOf is the time of one operation, in milliseconds, if they run one at a time.
func timeOf(s sample) float64 {
	if s.rate == 0 {
		return 0
	}
	return 1e3 / s.rate
}

// report prints tables. It says which targets are reached only if the run is a result.
type report struct {
	results
	started []started
	judged  bool // the machine was quiet
}

// started is the start of a program on a migrated database: the time to its first answer, and its resident memory then,
// in bytes.
type started struct {
	database  string
	coldStart time.Duration
	idle      int64
}

// print writes a row for every measured comparison, then the reads in a table of their own, then the starts.
func (r report) print(w io.Writer) error {
	for _, table := range []func(row func(cells ...string)){r.printWrites, r.printReads, r.printStarts} {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		table(func(cells ...string) { fmt.Fprintln(t, strings.Join(cells, "\t")) })
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// goals are the last cells of a row: the targets, and which are reached.
func (r report) goals(t targets, less bool, value float64) []string {
	cells := []string{t.show(t.close, less), t.show(t.goal, less)}
	if r.judged {
		cells = append(cells, t.reached(value, less))
	}
	return cells
}

// goalHead names the cells of goals.
func (r report) goalHead() []string {
	if r.judged {
		return []string{"to close", "goal", "reached"}
	}
	return []string{"to close", "goal"}
}

func (r report) printWrites(row func(...string)) {
	head := append([]string{"metric", "base/s", "rate/s", "ratio to base", "p50/p99 ms", "cpu µs server+database+client",
		"idle"}, r.goalHead()...)
	for _, c := range comparisons() {
		ratios := r.ratios(c)
		if len(ratios) == 0 || c.read {
			continue
		}

		if head != nil {
			row(head...)
			head = nil
		}

		base, rate := fmt.Sprintf("%.0f", r.middle(c.base, rateOf)), fmt.Sprintf("%.0f", r.middle(c.of, rateOf))
		switch {
		case c.costs:
			base, rate = fmt.Sprintf("%.2f µs", 1e3*r.middle(c.base, timeOf)), fmt.Sprintf("%.2f µs", 1e3*r.middle(c.of, timeOf))
		case c.less():
			base, rate = fmt.Sprintf("%.1f ms", r.middle(c.base, c.figure())), fmt.Sprintf("%.1f ms", r.middle(c.of, c.figure()))
		}

		row(append([]string{c.title, base, rate, spread(ratios), r.times(c.of, "%.1f"), r.processors(c.of), r.idle(c.of)},
			r.goals(c.targets, c.less(), median(ratios))...)...)
	}
}

// printReads writes the cost of a read beside the cost of its rows in SQL.
func (r report) printReads(row func(...string)) {
	head := append([]string{"\nread", "SQL p50/p99 ms", "HTTP p50/p99 ms", "ratio of p50", "ratio of p99",
		"cpu µs server+database+client", "idle"}, r.goalHead()...)

	for _, c := range comparisons() {
		tails := c
		tails.worst, tails.typical = true, false
		p50, p99 := r.ratios(c), r.ratios(tails)
		if !c.read || len(p50) == 0 {
			continue
		}
		if head != nil {
			row(head...)
			head = nil
		}
		row(append([]string{c.title, r.times(c.base, "%.2f"), r.times(c.of, "%.2f"), spread(p50), spread(p99),
			r.processors(c.of), r.idle(c.of)},
			r.goals(c.targets, true, median(p50))...)...)
	}
}

// The targets of a start, in seconds, and of the memory of a program that has just started, in megabytes.
var (
	startTargets  = targets{0.3, 0.2}
	memoryTargets = targets{80, 80}
)

// printStarts writes the start of the program on each database: the median of several starts.
func (r report) printStarts(row func(...string)) {
	head := append([]string{"\nstart", "measured"}, r.goalHead()...)
	for _, database := range []string{"PostgreSQL", "SQLite"} {
		var seconds, megabytes []float64
		for _, s := range r.started {
			if s.database == database {
				seconds, megabytes = append(seconds, s.coldStart.Seconds()), append(megabytes, float64(s.idle>>20))
			}
		}

		if len(seconds) == 0 {
			continue
		}

		if head != nil {
			row(head...)
			head = nil
		}

		row(append([]string{"the program on " + database + ": from the start to the first answer, s",
			fmt.Sprintf("%.2f", median(seconds))},
			r.goals(startTargets, true, median(seconds))...)...)
		row(append([]string{"the program on " + database + ": idle memory, MB", fmt.Sprintf("%.0f", median(megabytes))},
			r.goals(memoryTargets, true, median(megabytes))...)...)
	}
}

func (r results) times(metric, format string) string {
	return fmt.Sprintf(format+"/"+format, r.middle(metric, p50Of), r.middle(metric, p99Of))
}

// processors writes the processor time of an event by program; a dash: none or unknown.
func (r results) processors(metric string) string {
	var cells []string
	for _, part := range []func(sample) float64{
		func(s sample) float64 { return s.server }, func(s sample) float64 { return s.database },
		func(s sample) float64 { return s.client },
	} {
		cells = append(cells, orDash("%.0f", r.middle(metric, part)))
	}
	return strings.Join(cells, "+")
}

func (r results) idle(metric string) string {
	if r.middle(metric, rateOf) == 0 || !slices.ContainsFunc(r[metric], func(s sample) bool { return s.judged }) {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*r.middle(metric, idleOf))
}

// spread writes "median [quartile-quartile]".
func spread(values []float64) string {
	return fmt.Sprintf("%.2f [%.2f-%.2f]", median(values), quantile(values, 0.25), quantile(values, 0.75))
}

func orDash(format string, value float64) string {
	if value == 0 {
		return "-"
	}
	return fmt.Sprintf(format, value)
}

// show writes one of the targets.
func (t targets) show(value float64, less bool) string {
	if value == 0 {
		return "-"
	}
	sign := "≥ "
	if less {
		sign = "≤ "
	}
	return sign + strings.TrimSuffix(strings.TrimSuffix(fmt.Sprintf("%.2f", value), "0"), ".0")
}

// reached is the target that a value meets: goal, closed, NO; a dash without targets.
func (t targets) reached(value float64, less bool) string {
	meets := func(target float64) bool {
		if less {
			return value <= target
		}
		return value >= target
	}

	switch {
	case t.goal == 0:
		return "-"
	case meets(t.goal):
		return "goal"
	case meets(t.close):
		return "closed"
	}

	return "NO"
}
