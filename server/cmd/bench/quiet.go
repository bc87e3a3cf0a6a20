package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// How busy other programs may be while the machine still counts as quiet. A neighbour that takes a share of the
// processors moves a rate by that share, and a ratio by the part that falls on one side of it: these bounds are within
// the quartiles of a quiet machine.
const (
	mostLoad   = 0.25 // runnable processes for each processor in the minute before the start
	mostSteal  = 0.02 // of the processors' time, taken away by the host
	mostOthers = 0.10 // of the processors' time, used by other programs, including interrupts and kernel threads
)

// quiet is how quiet the machine was, before the start and during the measurements.
type quiet struct {
	processors    int
	load          float64 // over a minute, before anything was started; negative: unknown
	steal, others float64 // shares of the processors' time
}

// disturbances are the reasons why a run is no result; none if it is one.
func (q quiet) disturbances() (why []string) {
	if q.load < 0 {
		return []string{"this system does not tell how busy it is"}
	}
	if most := mostLoad * float64(q.processors); q.load > most {
		why = append(why, fmt.Sprintf("a load of %.2f before the start, more than %.2f", q.load, most))
	}
	if q.steal > mostSteal {
		why = append(why, fmt.Sprintf("the host took %.1f %% of the processors, more than %.0f %%",
			100*q.steal, 100*mostSteal))
	}
	if q.others > mostOthers {
		why = append(why, fmt.Sprintf("others used %.0f %% of the processors, more than %.0f %%",
			100*q.others, 100*mostOthers))
	}
	return why
}

// heading is the first line of the report.
func (q quiet) heading() string {
	if why := q.disturbances(); len(why) > 0 {
		return "NOT A RESULT: the machine was not quiet (" + strings.Join(why, "; ") + ")"
	}
	return fmt.Sprintf("The machine was quiet: a load of %.2f before the start, %.1f %% taken by the host, %.0f %% used by others.", q.load, 100*q.steal, 100*q.others)
}

// add adds the steal and the other programs' time of a run's samples.
func (q *quiet) add(r results) {
	var n, steal, others float64
	for _, samples := range r {
		for _, s := range samples {
			if s.judged { // a shorter measurement tells little about the machine
				n, steal, others = n+1, steal+s.steal, others+s.others
			}
		}
	}
	if n > 0 {
		q.steal, q.others = steal/n, others/n
	}
}

// settle waits until earlier work, such as the build of the program, is out of the load average. Then it returns the
// load, the lowest it saw.
func settle(ctx context.Context, most time.Duration, progress io.Writer) quiet {
	q := quiet{processors: runtime.NumCPU(), load: readLoad()}
	deadline := time.Now().Add(most)
	for told := false; q.load > mostLoad*float64(q.processors) && time.Now().Before(deadline); q.load = readLoad() {
		if !told {
			fmt.Fprintf(progress, "the load is %.2f: waiting up to %s for it to pass\n", q.load, most)
			told = true
		}
		select {
		case <-ctx.Done():
			return q
		case <-time.After(time.Second):
		}
	}

	return q
}

func readLoad() float64 {
	text, _ := os.ReadFile("/proc/loadavg")
	return parseLoad(string(text))
}

// parseLoad reads the first figure of /proc/loadavg, the load over a minute.
func parseLoad(text string) float64 {
	first, _, _ := strings.Cut(text, " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return -1
	}
	return load
}
