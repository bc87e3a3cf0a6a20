package main

import (
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
		a, b := of.rate, base.rate
		if c.worst {
			a, b = of.p99, base.p99
		}
		if b > 0 {
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

// print writes a row for every comparison that was measured.
func (r results) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "metric\tbase/s\trate/s\tratio to base\tp50/p99 ms\tcpu µs\tfirst\tgoal\treached")
	for _, c := range comparisons() {
		ratios := r.ratios(c)
		if len(ratios) == 0 {
			continue
		}
		base, rate := fmt.Sprintf("%.0f", r.middle(c.base, rateOf)), fmt.Sprintf("%.0f", r.middle(c.of, rateOf))
		if c.worst {
			base, rate = fmt.Sprintf("%.1f ms", r.middle(c.base, p99Of)), fmt.Sprintf("%.1f ms", r.middle(c.of, p99Of))
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.1f/%.1f\t%s\t%s\t%s\t%s\n", c.title, base, rate, spread(ratios),
			r.middle(c.of, p50Of), r.middle(c.of, p99Of), orDash("%.0f", r.middle(c.of, cpuOf)),
			c.target(c.first), c.target(c.goal), c.reached(median(ratios)))
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
	if c.worst {
		sign = "≤ "
	}
	return strings.TrimSuffix(fmt.Sprintf("%s%.2f", sign, value), "0")
}

// reached tells which target a ratio meets: goal, first, NO; a dash where the
// row has none.
func (c comparison) reached(ratio float64) string {
	meets := func(target float64) bool {
		if c.worst {
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
