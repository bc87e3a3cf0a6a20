package main

import (
	"slices"
	"strings"
	"testing"
	"time"

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
		if c.read || c.costs {
			shown[c.base] = true
		}
		if c.goal != 0 {
			require.Equal(t, c.less(), c.goal < c.close, c.title)
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
	more, less := targets{0.5, 0.7}, targets{0.3, 0.15}
	for _, c := range []struct {
		targets
		less  bool
		value float64
		want  string
	}{
		{more, false, 0.49, "NO"}, {more, false, 0.5, "closed"}, {more, false, 0.69, "closed"}, {more, false, 0.7, "goal"}, {more, false, 9, "goal"},
		{less, true, 0.31, "NO"}, {less, true, 0.3, "closed"}, {less, true, 0.16, "closed"}, {less, true, 0.15, "goal"}, {less, true, 0, "goal"},
		{targets{}, false, 1, "-"},
	} {
		require.Equal(t, c.want, c.reached(c.value, c.less), "%+v", c)
	}

	require.Equal(t, "≥ 0.5", more.show(more.close, false))
	require.Equal(t, "≤ 0.15", less.show(less.goal, true))
	require.Equal(t, "≤ 3", targets{3, 2}.show(3, true))
	require.Equal(t, "-", targets{}.show(0, true))
}

func TestPrint(t *testing.T) {
	r := results{
		"floor-64": {{rate: 1000, p50: 1, p99: 10, database: 90, client: 10, idle: 0.1, judged: true}, {rate: 2000, p50: 1, p99: 10, database: 90, client: 10, idle: 0.2, judged: true},
			{rate: 4000, p50: 1, p99: 10, database: 90, client: 10, idle: 0.3, judged: true}},
		"server-64":           {{rate: 1500, p50: 2, p99: 5, server: 70}, {rate: 1600, p50: 2, p99: 5, server: 80}, {rate: 2400, p50: 2, p99: 5, server: 90}},
		"naive-64":            {{rate: 300, p50: 20, p99: 50}, {rate: 600, p50: 20, p99: 20}, {rate: 1200, p50: 20, p99: 10}},
		"signature-300-floor": {{rate: 1e6}}, "signature-300": {{rate: 8e5, client: 1.25}},
		"read-points-sql": {{rate: 1000, p50: 1, p99: 2}}, "read-points": {{rate: 400, p50: 2.5, p99: 4, server: 300, database: 100, client: 40}},
	}

	rows := func(judged bool) (rows [][]string) {
		var out strings.Builder
		programs := []started{{"PostgreSQL", 250 * time.Millisecond, 60 << 20}, {"PostgreSQL", 350 * time.Millisecond, 70 << 20}, {"PostgreSQL", 260 * time.Millisecond, 90 << 20}}
		require.NoError(t, report{r, programs, judged}.print(&out))
		for line := range strings.Lines(out.String()) {
			cells := strings.FieldsFunc(strings.TrimSpace(strings.ReplaceAll(line, "  ", "\t")), func(c rune) bool { return c == '\t' })
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			if len(cells) > 0 {
				rows = append(rows, cells)
			}
		}
		return rows
	}

	require.Equal(t, [][]string{
		{"metric", "base/s", "rate/s", "ratio to base", "p50/p99 ms", "cpu µs server+database+client", "idle", "to close", "goal", "reached"},
		{"same, 64 connections", "2000", "1600", "0.80 [0.70-1.15]", "2.0/5.0", "80+-+-", "-", "≥ 1.1", "≥ 1.5", "NO"},
		{"p99 at 64 connections against naive", "20.0 ms", "5.0 ms", "0.25 [0.17-0.38]", "2.0/5.0", "80+-+-", "-", "≤ 0.15", "≤ 0.1", "NO"},
		{"naive, 64 connections", "2000", "600", "0.30 [0.30-0.30]", "20.0/20.0", "-+-+-", "-", "-", "-", "-"},
		{"F: pgbench, one statement, 64 clients", "2000", "2000", "1.00 [1.00-1.00]", "1.0/10.0", "-+90+10", "20 %", "-", "-", "-"},
		{"a signature of 300 octets against its hashing", "1.00 µs", "1.25 µs", "1.25 [1.25-1.25]", "0.0/0.0", "-+-+1", "-", "≤ 1.35", "≤ 1.2", "closed"},
		{"read", "SQL p50/p99 ms", "HTTP p50/p99 ms", "ratio of p50", "ratio of p99", "cpu µs server+database+client", "idle", "to close", "goal", "reached"},
		{"GET C/points", "1.00/2.00", "2.50/4.00", "2.50 [2.50-2.50]", "2.00 [2.00-2.00]", "300+100+40", "-", "≤ 3", "≤ 2", "closed"},
		{"start", "measured", "to close", "goal", "reached"},
		{"the program on PostgreSQL: from the start to the first answer, s", "0.26", "≤ 0.3", "≤ 0.2", "closed"},
		{"the program on PostgreSQL: idle memory, MB", "70", "≤ 80", "≤ 80", "goal"},
	}, rows(true))

	for i, row := range rows(false) {
		require.NotContains(t, row, "reached", "of what is no result nothing is said")
		require.Len(t, row, len(rows(true)[i])-1)
	}
}
