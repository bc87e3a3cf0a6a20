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
	"regexp"
	"strconv"
	"strings"
	"time"
)

// pgbench measures F: the one statement, prepared, from so many clients.
func (f *floor) pgbench(ctx context.Context, clients int, hot bool) (sample, error) {
	if err := f.empty(ctx); err != nil {
		return sample{}, err
	}
	dir, err := newDir(f.cluster.dir, "pgbench", true) // the cluster's own, so that its leash can remove it
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
	for { // a busy machine may finish nothing in a short window, and a rate of nothing cannot be compared
		out, watch, err := f.runPgbench(ctx, script, filepath.Join(dir, "times"), clients, window)
		if err != nil {
			return sample{}, err
		}
		if pgbenchIdle(out) {
			window *= 2
			continue
		}
		latencies, err := readTimes(dir)
		if err != nil {
			return sample{}, err
		}
		return pgbenchSample(out, watch, latencies)
	}
}

// runPgbench gives what pgbench printed of one run.
func (f *floor) runPgbench(ctx context.Context, script, times string, clients int, window time.Duration) (string, stopwatch, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(f.cluster.bin, "pgbench"), "-n", "-M", "prepared", "-f", script,
		"-c", strconv.Itoa(clients), "-j", "1", "-T", strconv.Itoa(int(window/time.Second)),
		"-l", "--sampling-rate", "0.1", "--log-prefix", times,
		"-h", "127.0.0.1", "-p", strconv.Itoa(f.cluster.port), "-U", "postgres", floorDatabase)
	var said bytes.Buffer
	cmd.Stderr = &said
	watch := startWatch()
	out, err := cmd.Output()
	watch.stop()
	if err != nil {
		return "", watch, fmt.Errorf("pgbench: %w: %s%s", err, out, said.Bytes())
	}
	return string(out), watch, nil
}

// pgbenchIdle says that pgbench ran and finished no transaction.
func pgbenchIdle(out string) bool {
	done := pgbenchDone.FindStringSubmatch(out)
	return done != nil && done[1] == "0"
}

var (
	pgbenchRate = regexp.MustCompile(`tps = ([0-9.]+) \((?:without initial|excluding)`)
	pgbenchDone = regexp.MustCompile(`transactions actually processed: ([0-9]+)`)
)

// pgbenchSample reads pgbench's own account; latencies is a tenth of all.
func pgbenchSample(out string, watch stopwatch, latencies []time.Duration) (sample, error) {
	rate, done := pgbenchRate.FindStringSubmatch(out), pgbenchDone.FindStringSubmatch(out)
	if rate == nil || done == nil {
		return sample{}, fmt.Errorf("pgbench did not tell its rate: %s", out)
	}
	s := watch.sample(latencies, 1) // for the percentiles
	var err, err2 error
	var n float64
	s.rate, err = strconv.ParseFloat(rate[1], 64)
	n, err2 = strconv.ParseFloat(done[1], 64)
	s.cpu = float64(watch.busy.Microseconds()) / max(n, 1)
	return s, errors.Join(err, err2)
}

// readTimes reads pgbench's logs: client, transaction, microseconds, ...
func readTimes(dir string) (latencies []time.Duration, err error) {
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
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		latencies = append(latencies, some...)
	}
	return latencies, nil
}

func parseTimes(r io.Reader) (latencies []time.Duration, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 {
			return nil, fmt.Errorf("pgbench log: %q", lines.Text())
		}
		us, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("pgbench log: %w", err)
		}
		latencies = append(latencies, time.Duration(us)*time.Microsecond)
	}
	return latencies, lines.Err()
}
