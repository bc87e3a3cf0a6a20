package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPercentile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	require.EqualValues(t, 50, percentile(hundred, 50))
	require.EqualValues(t, 99, percentile(hundred, 99))
	require.EqualValues(t, 7, percentile([]time.Duration{7}, 50))
	require.EqualValues(t, 7, percentile([]time.Duration{7}, 99))
	require.EqualValues(t, 8, percentile([]time.Duration{7, 8}, 99))
	require.Zero(t, percentile(nil, 99))
}

func TestMedian(t *testing.T) {
	values := []float64{5, 1, 3}
	require.EqualValues(t, 3, median(values))
	require.Equal(t, []float64{5, 1, 3}, values)
	require.EqualValues(t, 2.5, median([]float64{4, 1, 2, 3}))
	require.Zero(t, median(nil))
}

func TestSample(t *testing.T) {
	w := stopwatch{took: 2 * time.Second, busy: time.Second}
	got := w.sample([]time.Duration{3 * time.Millisecond, time.Millisecond, 2 * time.Millisecond, 4 * time.Millisecond}, 50)
	require.Equal(t, sample{rate: 100, cpu: 5000, p50: 2, p99: 4}, got)
	require.Equal(t, sample{}, w.sample(nil, 1))
}

func TestParseBusy(t *testing.T) {
	for line, want := range map[string]time.Duration{
		// user nice system idle iowait irq softirq steal guest guest_nice
		"cpu  1 2 4 8 16 32 64 128 1 2": (1 + 2 + 4 + 32 + 64) * 10 * time.Millisecond,
		"cpu0 1 2 4 8 16 32 64 128 1 2": 0,
		"cpu  1 2 4":                    0,
		"cpu  1 2 x 8 16 32 64 128":     0,
		"":                              0,
	} {
		require.Equal(t, want, parseBusy(line), line)
	}
}
