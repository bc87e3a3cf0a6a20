package main

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sample is what one measurement of a few seconds gave.
type sample struct {
	rate     float64 // events (for checkouts: purchases) a second
	cpu      float64 // busy CPU microseconds of the whole machine per event; 0: cannot be told
	p50, p99 float64 // milliseconds from sending a request to its whole answer
}

// stopwatch times a measurement and what it makes the machine do.
type stopwatch struct {
	began      time.Time
	took, busy time.Duration
}

func startWatch() stopwatch { return stopwatch{began: time.Now(), busy: busyCPU()} }

func (w *stopwatch) stop() { w.took, w.busy = time.Since(w.began), busyCPU()-w.busy }

// sample turns the latencies of requests, each of which recorded so many
// events, into figures. The watch was stopped before; latencies get sorted.
func (w *stopwatch) sample(latencies []time.Duration, events int) sample {
	n := float64(len(latencies) * events)
	if n == 0 {
		return sample{}
	}
	slices.Sort(latencies)
	return sample{
		rate: n / w.took.Seconds(),
		cpu:  float64(w.busy.Microseconds()) / n,
		p50:  milliseconds(percentile(latencies, 50)),
		p99:  milliseconds(percentile(latencies, 99)),
	}
}

// percentile takes the p-th of 100 from sorted latencies, the nearest rank.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*p+99)/100-1]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// median of values, 0 of none. It does not change their order.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// busyCPU is the time all processors of the machine have worked since it
// started. What a host takes away (steal) and waiting for disks is not work.
// Where the system does not tell, it is 0.
func busyCPU() time.Duration {
	stat, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(stat), "\n")
	return parseBusy(line)
}

// parseBusy sums user, nice, system, irq and softirq of a "cpu" line, which
// counts in hundredths of a second.
func parseBusy(line string) time.Duration {
	fields := strings.Fields(line)
	if len(fields) < 8 || fields[0] != "cpu" {
		return 0
	}
	var ticks int64
	for _, i := range []int{1, 2, 3, 6, 7} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
