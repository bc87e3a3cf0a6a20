package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// results are the samples by metric, one a round.
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
func cpuOf(s sample) float64  { return s.cpu }
func p50Of(s sample) float64  { return s.p50 }
func p99Of(s sample) float64  { return s.p99 }

// print writes a row for every comparison that was measured, and then the reads in a
// table of their own.
func (r results) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "metric\tbase/s\trate/s\tratio to base\tp50/p99 ms\tcpu µs\tfirst\tgoal\treached")
	for _, c := range comparisons() {
		ratios := r.ratios(c)
		if len(ratios) == 0 || c.read {
			continue
		}
		base, rate := fmt.Sprintf("%.0f", r.middle(c.base, rateOf)), fmt.Sprintf("%.0f", r.middle(c.of, rateOf))
		if c.less() {
			base, rate = fmt.Sprintf("%.1f ms", r.middle(c.base, c.figure())), fmt.Sprintf("%.1f ms", r.middle(c.of, c.figure()))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.1f/%.1f\t%s\t%s\t%s\t%s\n", c.title, base, rate, spread(ratios),
			r.middle(c.of, p50Of), r.middle(c.of, p99Of), orDash("%.0f", r.middle(c.of, cpuOf)),
			c.target(c.first), c.target(c.goal), c.reached(median(ratios)))
	}
	return errors.Join(t.Flush(), r.printReads(w))
}

// printReads writes what a read costs beside what its rows cost in SQL.
func (r results) printReads(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	head := "\nread\tSQL p50/p99 ms\tHTTP p50/p99 ms\tratio of p50\tratio of p99\tSQL/s\tHTTP/s\tcpu µs"
	for _, c := range comparisons() {
		tails := c
		tails.worst, tails.typical = true, false
		p50, p99 := r.ratios(c), r.ratios(tails)
		if !c.read || len(p50) == 0 {
			continue
		}
		if head != "" {
			fmt.Fprintln(t, head)
			head = ""
		}
		fmt.Fprintf(t, "%s\t%.2f/%.2f\t%.2f/%.2f\t%s\t%s\t%.0f\t%.0f\t%s\n", c.title, r.middle(c.base, p50Of), r.middle(c.base, p99Of),
			r.middle(c.of, p50Of), r.middle(c.of, p99Of), spread(p50), spread(p99), r.middle(c.base, rateOf), r.middle(c.of, rateOf), orDash("%.0f", r.middle(c.of, cpuOf)))
	}
	return t.Flush()
}

// spread writes "median [min-max]".
func spread(values []float64) string {
	return fmt.Sprintf("%.2f [%.2f-%.2f]", median(values), slices.Min(values), slices.Max(values))
}

func orDash(format string, value float64) string {
	if value == 0 {
		return "-"
	}
	return fmt.Sprintf(format, value)
}

func (c comparison) target(value float64) string {
	if value == 0 {
		return "-"
	}
	sign := "≥ "
	if c.less() {
		sign = "≤ "
	}
	return strings.TrimSuffix(fmt.Sprintf("%s%.2f", sign, value), "0")
}

// reached tells which target a ratio meets: goal, first, NO; a dash where the
// row has none.
func (c comparison) reached(ratio float64) string {
	meets := func(target float64) bool {
		if c.less() {
			return ratio <= target
		}
		return ratio >= target
	}
	switch {
	case c.goal == 0:
		return "-"
	case meets(c.goal):
		return "goal"
	case meets(c.first):
		return "first"
	}
	return "NO"
}
