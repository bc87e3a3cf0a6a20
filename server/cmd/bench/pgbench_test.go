package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What pgbench did while its connections were new does not count.
func TestPgbenchTimes(t *testing.T) {
	all, err := parseTimes(strings.NewReader("0 0 90000 0 100 500000\n1 0 3000 0 101 400001\n0 1 1000 0 102 0\n1 1 2000 0 102 400000\n"))
	require.NoError(t, err)
	require.Equal(t, transaction{time.Unix(100, 500_000_000), 90 * time.Millisecond}, all[0])
	counted := lastOf(all, time.Second)
	require.Len(t, counted, 3)
	s := pgbenchSample(counted, time.Second, stopwatch{took: 2 * time.Second, used: usage{database: 600 * time.Microsecond}})
	require.Equal(t, sample{rate: 3, p50: 2, p99: 3, database: 100}, s, "the watch ran twice as long")
	require.Empty(t, lastOf(nil, time.Second))
	for _, line := range []string{"0 0 1 0 1", "0 0 x 0 1 1", "0 0 1 0 1 y"} {
		_, err := parseTimes(strings.NewReader(line))
		require.ErrorContains(t, err, "pgbench log", line)
	}
}
