package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pgbenchWarm is how long pgbench runs before it counts: its new connections have to learn the tables and the
// statement, which those of a server have learned before.
const pgbenchWarm = time.Second

// pgbench measures F: the one statement, prepared, from a number of clients.
func (f *floor) pgbench(ctx context.Context, clients int, hot bool) (sample, error) {
	if err := f.empty(ctx); err != nil {
		return sample{}, err
	}

	dir, err := newDir(f.cluster.dir, "pgbench", true) // below the cluster's folder, so that its leash can remove it
	if err != nil {
		return sample{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()

	script := filepath.Join(dir, "script.sql")
	text := fmt.Sprintf("\\set customer random(1, %d)\n\\set points random(1, 500)\n%s", f.last(hot), floorStatement)
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		return sample{}, err
	}

	window := f.window
	for { // a busy machine may finish nothing in a short window, and a rate of zero cannot be compared
		watch, err := f.runPgbench(ctx, script, filepath.Join(dir, "times"), clients, window)
		if err != nil {
			return sample{}, err
		}
		all, err := readTimes(dir)
		if err != nil {
			return sample{}, err
		}
		if counted := lastOf(all, window); len(counted) > 0 {
			return pgbenchSample(counted, window, watch), nil
		}
		window *= 2
	}
}

// runPgbench runs pgbench until it has counted for the window.
func (f *floor) runPgbench(
	ctx context.Context, script, times string, clients int, window time.Duration,
) (stopwatch, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(f.cluster.bin, "pgbench"), "-n", "-M", "prepared", "-f", script,
		"-c", strconv.Itoa(clients), "-j", "1", "-T", strconv.Itoa(int((pgbenchWarm+window+time.Second-1)/time.Second)),
		"-l", "--log-prefix", times,
		"-h", "127.0.0.1", "-p", strconv.Itoa(f.cluster.port), "-U", "postgres", floorDatabase)

	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	f.machine.rest(ctx, f.window)
	if err := cmd.Start(); err != nil {
		return stopwatch{}, fmt.Errorf("pgbench: %w", err)
	}

	err := f.connected(ctx, clients)
	time.Sleep(pgbenchWarm)
	watch := f.machine.watch()
	err = errors.Join(cmd.Wait(), err)
	watch.stop()
	if err != nil {
		return watch, fmt.Errorf("pgbench: %w: %s", err, said.Bytes())
	}

	return watch, nil
}

// connected waits until pgbench has all its connections and starts to send, at most a tenth of a second for each.
func (f *floor) connected(ctx context.Context, clients int) error {
	for range 20 * clients {
		var n int
		if err := f.pool.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pgbench'").
			Scan(&n); err != nil || n >= clients {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil // the clock runs a little too long; pgbench reports the error
}

// transaction is a finished transaction of pgbench: its end and its duration.
type transaction struct {
	ended time.Time
	took  time.Duration
}

// lastOf keeps the transactions that ended in the last part of a run.
func lastOf(all []transaction, window time.Duration) (counted []transaction) {
	var end time.Time
	for _, t := range all {
		if t.ended.After(end) {
			end = t.ended
		}
	}
	for _, t := range all {
		if end.Sub(t.ended) < window {
			counted = append(counted, t)
		}
	}
	return counted
}

func pgbenchSample(counted []transaction, window time.Duration, watch stopwatch) sample {
	latencies := make([]time.Duration, len(counted))
	for i, t := range counted {
		latencies[i] = t.took
	}
	slices.Sort(latencies)
	rate := float64(len(counted)) / window.Seconds()
	s := watch.costs(max(rate*watch.took.Seconds(), 1))
	s.rate, s.p50, s.p99 = rate, milliseconds(percentile(latencies, 50)), milliseconds(percentile(latencies, 99))
	return s
}

// readTimes reads pgbench's logs and removes them.
func readTimes(dir string) (all []transaction, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "times.*"))
	if err != nil {
		return nil, err
	}

	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		some, err := parseTimes(f)
		if err = errors.Join(err, f.Close(), os.Remove(path)); err != nil {
			return nil, err
		}
		all = append(all, some...)
	}

	return all, nil
}

// parseTimes reads a log: client, transaction, microseconds, script, second and
// microsecond of the end.
func parseTimes(r io.Reader) (all []transaction, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 {
			return nil, fmt.Errorf("pgbench log: %q", lines.Text())
		}
		var numbers [3]int64
		for i, column := range []int{2, 4, 5} {
			if numbers[i], err = strconv.ParseInt(fields[column], 10, 64); err != nil {
				return nil, fmt.Errorf("pgbench log: %w", err)
			}
		}
		all = append(all, transaction{time.Unix(numbers[1], 1000*numbers[2]), time.Duration(numbers[0]) * time.Microsecond})
	}

	return all, lines.Err()
}
