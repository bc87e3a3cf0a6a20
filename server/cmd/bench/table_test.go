package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every row names metrics that exist, and every metric has a row.
func TestComparisonsNameMetrics(t *testing.T) {
	all := names()
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(all))), len(all), "two metrics of one name")
	shown := map[string]bool{}
	for _, c := range comparisons() {
		require.Contains(t, all, c.of)
		require.Contains(t, all, c.base)
		shown[c.of] = true
		if c.read {
			shown[c.base] = true
		}
		if c.goal != 0 {
			require.Equal(t, c.less(), c.goal < c.first, c.title)
		}
	}
	for _, name := range all {
		require.True(t, shown[name], "%s is measured and never shown", name)
	}
}

func TestChoose(t *testing.T) {
	chosen := func(only ...string) (names []string) {
		for _, m := range choose(only, false) {
			names = append(names, m.name)
		}
		return names
	}
	require.Equal(t, []string{"floor-16"}, chosen("floor-16"))
	require.ElementsMatch(t, []string{"server-64", "floor-64", "naive-64"}, chosen("server-64"))
	require.ElementsMatch(t, []string{"read-points", "read-points-sql"}, chosen("read-points"))
	require.Subset(t, chosen("read-events-deep"), []string{"read-events-deep", "read-events-deep-sql", "read-events"})
	require.Empty(t, chosen("sqlite"))
	require.Len(t, choose([]string{"sqlite"}, true), 3, "itself, pgx and the floor under pgx")
	require.Len(t, choose(nil, true), len(metrics()))
	require.Len(t, choose(nil, false), len(metrics())-1)
}

func TestReached(t *testing.T) {
	more := comparison{first: 0.5, goal: 0.7}
	less := comparison{worst: true, first: 0.3, goal: 0.15}
	for _, c := range []struct {
		row   comparison
		ratio float64
		want  string
	}{
		{more, 0.49, "NO"}, {more, 0.5, "first"}, {more, 0.69, "first"}, {more, 0.7, "goal"}, {more, 9, "goal"},
		{less, 0.31, "NO"}, {less, 0.3, "first"}, {less, 0.16, "first"}, {less, 0.15, "goal"}, {less, 0, "goal"},
		{comparison{typical: true, first: 2, goal: 1.5}, 1.5, "goal"}, {comparison{typical: true, first: 2, goal: 1.5}, 1.6, "first"},
		{comparison{}, 1, "-"},
	} {
		require.Equal(t, c.want, c.row.reached(c.ratio), "%+v", c)
	}
}

func TestPrint(t *testing.T) {
	r := results{
		"floor-64":  {{rate: 1000, p50: 1, p99: 10, cpu: 100}, {rate: 2000, p50: 1, p99: 10, cpu: 100}, {rate: 4000, p50: 1, p99: 10, cpu: 100}},
		"server-64": {{rate: 1500, p50: 2, p99: 5}, {rate: 1600, p50: 2, p99: 5}, {rate: 2400, p50: 2, p99: 5}},
		"naive-64":  {{rate: 300, p50: 20, p99: 50}, {rate: 600, p50: 20, p99: 20}, {rate: 1200, p50: 20, p99: 10}},
	}
	var out strings.Builder
	require.NoError(t, r.print(&out))
	var rows [][]string
	for line := range strings.Lines(out.String()) {
		rows = append(rows, strings.FieldsFunc(strings.TrimSpace(strings.ReplaceAll(line, "  ", "\t")), func(c rune) bool { return c == '\t' }))
	}
	trim := func(row []string) []string {
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		return row
	}
	require.Len(t, rows, 5)
	require.Equal(t, []string{"same, 64 connections", "2000", "1600", "0.80 [0.60-1.50]", "2.0/5.0", "-", "≥ 0.8", "≥ 1.5", "first"}, trim(rows[1]))
	require.Equal(t, []string{"p99 at 64 connections against naive", "20.0 ms", "5.0 ms", "0.25 [0.10-0.50]", "2.0/5.0", "-", "≤ 0.3", "≤ 0.15", "first"}, trim(rows[2]))
	require.Equal(t, "naive, 64 connections", trim(rows[3])[0])
	require.Equal(t, []string{"F: pgbench, one statement, 64 clients", "2000", "2000", "1.00 [1.00-1.00]", "1.0/10.0", "100", "-", "-", "-"}, trim(rows[4]))
}
