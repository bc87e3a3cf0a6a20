package main

import (
	"slices"
	"time"
)

// sample is the result of one measurement.
type sample struct {
	rate     float64 // events (for checkouts: purchases) a second
	p50, p99 float64 // milliseconds from sending a request to its whole answer
	// Processor time of an event in microseconds; 0: none or unknown.
	server, database, client float64
	// Shares of the time of all processors: idle (including waiting for disks), taken away by the host, used by other
	// programs.
	idle, steal, others float64
	judged              bool // long enough to tell how quiet the machine was
}

// sample turns the latencies of requests, each of which recorded a number of events, into figures. The watch is stopped
// already; latencies get sorted.
func (w *stopwatch) sample(latencies []time.Duration, events int) sample {
	n := float64(len(latencies) * events)
	if n == 0 {
		return sample{}
	}
	slices.Sort(latencies)
	s := w.costs(n)
	s.rate = n / w.took.Seconds()
	s.p50, s.p99 = milliseconds(percentile(latencies, 50)), milliseconds(percentile(latencies, 99))
	return s
}

// costs divides the used time by the number of events.
func (w *stopwatch) costs(n float64) sample {
	micros := func(d time.Duration) float64 { return float64(d.Microseconds()) / n }
	s := sample{server: micros(w.used.server), database: micros(w.used.database), client: micros(w.used.client)}
	if all := w.used.all(); all > 0 {
		share := func(d time.Duration) float64 { return float64(d) / float64(all) }
		s.idle, s.steal, s.others = share(w.used.idle), share(w.used.steal), share(w.used.others())
		s.judged = w.took >= 30*tick
	}
	return s
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
func median(values []float64) float64 { return quantile(values, 0.5) }

// quantile is the value below which the given part of the values lies, interpolated linearly; 0 for none. It does not
// change their order.
func quantile(values []float64, part float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	place := part * float64(len(sorted)-1)
	below := int(place)
	if below+1 >= len(sorted) {
		return sorted[below]
	}
	return sorted[below] + (place-float64(below))*(sorted[below+1]-sorted[below])
}
