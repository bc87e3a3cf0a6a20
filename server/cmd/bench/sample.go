package main

import (
	"slices"
	"time"
)

// sample is what one measurement gave.
type sample struct {
	rate     float64 // events (for checkouts: purchases) a second
	p50, p99 float64 // milliseconds from sending a request to its whole answer
	// What an event cost in microseconds of processors; 0: nothing, or it cannot be told.
	server, database, client float64
	// Shares of the time of all processors: idle (waiting for disks too), taken away by
	// the host, used by others.
	idle, steal, others float64
	judged              bool    // it was long enough to tell how quiet the machine was
	conflicts           float64 // writes that met those of another server process, for each event
}

// sample turns the latencies of requests, each of which recorded so many
// events, into figures. The watch was stopped before; latencies get sorted.
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

// costs divides what was used by the number of events.
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

// quantile is the value below which so great a part of the values lies, drawn
// straight between two of them; 0 of none. It does not change their order.
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
