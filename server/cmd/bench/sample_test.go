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

func TestQuantile(t *testing.T) {
	nine := []float64{9, 1, 8, 2, 7, 3, 6, 4, 5}
	require.EqualValues(t, 3, quantile(nine, 0.25))
	require.EqualValues(t, 7, quantile(nine, 0.75))
	require.EqualValues(t, 9, quantile(nine, 1))
	require.EqualValues(t, 1.75, quantile([]float64{1, 2, 3, 4}, 0.25))
	require.EqualValues(t, 4, quantile([]float64{4}, 0.75))
	require.Zero(t, quantile(nil, 0.25))
}

func TestSample(t *testing.T) {
	w := stopwatch{took: 2 * time.Second, used: usage{
		busy: 3 * time.Second, idle: 800 * time.Millisecond, steal: 200 * time.Millisecond,
		server: time.Second, database: 500 * time.Millisecond, client: 200 * time.Millisecond, programs: 1100 * time.Millisecond,
	}}
	got := w.sample([]time.Duration{3 * time.Millisecond, time.Millisecond, 2 * time.Millisecond, 4 * time.Millisecond}, 50)
	require.Equal(t, sample{
		rate: 100, p50: 2, p99: 4, server: 5000, database: 2500, client: 1000, idle: 0.2, steal: 0.05, others: 0.3, judged: true,
	}, got)
	require.Equal(t, sample{}, w.sample(nil, 1))
	w = stopwatch{took: time.Second, used: usage{server: time.Second}}
	require.Equal(t, sample{rate: 1, p50: 1, p99: 1, server: 1e6}, w.sample([]time.Duration{time.Millisecond}, 1), "where the system does not tell")
}
