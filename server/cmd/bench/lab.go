package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	binary    string
	reps      int
	seconds   int
	only      []string
	sqlite    bool
	customers int
	events    int    // of the journal that is read
	dir       string // where the throw-away folders are made; empty: the system's
}

func (o options) window() time.Duration { return time.Duration(o.seconds) * time.Second }

func (o options) validate() error {
	switch {
	case o.reps < 1:
		return errors.New("-reps must be 1 or more")
	case o.seconds < 1 || o.seconds > 120:
		return errors.New("-seconds must be 1 to 120: signed requests are only good for minutes")
	case o.customers < 1:
		return errors.New("-customers must be 1 or more")
	case o.events < 1000 || o.events > 100_000_000:
		return errors.New("-events must be 1,000 to 100,000,000")
	}
	for _, prefix := range o.only {
		if len(choose([]string{prefix}, o.sqlite)) == 0 {
			return fmt.Errorf("-only: nothing is called %q; there are %s (sqlite with -sqlite)", prefix, strings.Join(names(), ", "))
		}
	}
	return nil
}

func names() (names []string) {
	for _, m := range metrics() {
		names = append(names, m.name)
	}
	return names
}

// lab is everything a run has started.
type lab struct {
	cluster        *cluster
	floor          *floor
	naive          *service
	server, sqlite *server
	programme      *server // with the rules of programme.json
	reads          *reads
}

// openLab starts what the metrics need. What it has started is in the lab even
// when it fails: close it in any case.
func openLab(ctx context.Context, o options, chosen []metric) (l *lab, err error) {
	l = &lab{}
	needs := func(prefix string) bool {
		return slices.ContainsFunc(chosen, func(m metric) bool { return strings.HasPrefix(m.name, prefix) })
	}
	if l.cluster, err = startCluster(ctx, o.dir); err != nil {
		return l, err
	}
	if l.floor, err = newFloor(ctx, l.cluster, o.customers, o.window()); err != nil {
		return l, err
	}
	if needs("naive") {
		if l.naive, err = startNaive(ctx, o.dir, l.floor); err != nil {
			return l, fmt.Errorf("naive: %w", err)
		}
	}
	if needs("server") {
		if err = l.cluster.exec(ctx, "postgres", "CREATE DATABASE loyalty"); err != nil {
			return l, err
		}
		if l.server, err = startServer(ctx, o, l.cluster.url("loyalty")); err != nil {
			return l, fmt.Errorf("server: %w", err)
		}
	}
	if needs("programme") {
		if err = l.cluster.exec(ctx, "postgres", "CREATE DATABASE programme"); err != nil {
			return l, err
		}
		if l.programme, err = startServer(ctx, o, l.cluster.url("programme"), programme...); err != nil {
			return l, fmt.Errorf("programme: %w", err)
		}
	}
	if needs("read") {
		if l.reads, err = startReads(ctx, o, l.cluster); err != nil {
			return l, fmt.Errorf("reads: %w", err)
		}
	}
	if needs("sqlite") {
		if l.sqlite, err = startServer(ctx, o, ""); err != nil {
			return l, fmt.Errorf("sqlite: %w", err)
		}
	}
	return l, nil
}

// close stops everything, the databases last.
func (l *lab) close() error {
	var errs []error
	for _, s := range []*server{l.server, l.programme, l.sqlite} {
		if s != nil {
			errs = append(errs, s.close())
		}
	}
	if l.reads != nil {
		errs = append(errs, l.reads.close())
	}
	if l.naive != nil {
		errs = append(errs, l.naive.stop())
	}
	if l.floor != nil {
		l.floor.pool.Close()
	}
	if l.cluster != nil {
		errs = append(errs, l.cluster.stop())
	}
	return errors.Join(errs...)
}

// measure runs the rounds: A B C A B C …, each measurement told as it comes.
func (l *lab) measure(ctx context.Context, o options, chosen []metric, progress io.Writer) (results, error) {
	r := results{}
	for round := range o.reps {
		for _, m := range chosen {
			s, err := m.run(ctx, l)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
			r[m.name] = append(r[m.name], s)
			fmt.Fprintf(progress, "round %d/%d  %-25s %8.0f/s  p50 %7.2f ms  p99 %7.2f ms  cpu %5.0f µs\n",
				round+1, o.reps, m.name, s.rate, s.p50, s.p99, s.cpu)
		}
	}
	return r, nil
}

// describe writes what the figures depend on. The server with a programme starts
// before that is made, as the other does, and is not told of.
func (l *lab) describe(w io.Writer, o options) {
	fmt.Fprintf(w, "%d cores, %s %s/%s, PostgreSQL %s (fsync and synchronous_commit on, files on %s), %d customers, %d rounds of %d s\n",
		runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, l.cluster.version, fileSystem(l.cluster.dir), o.customers, o.reps, o.seconds)
	for _, s := range []*server{l.server, l.sqlite} {
		if s != nil {
			fmt.Fprintf(w, "the program on %s: cold start to the first answer %d ms (target ≤ 1000), idle memory %d MB (target ≤ 80)\n",
				s.database, s.coldStart.Milliseconds(), s.idle>>20)
		}
	}
	if l.reads != nil {
		fmt.Fprintf(w, "the reads: over %d events, %d connections, customers with long histories\n", o.events, readConnections)
	}
}

// fileSystem names the file system that holds a folder: on one in memory a
// durable commit costs nothing and the figures mean little.
func fileSystem(dir string) string {
	mounts, _ := os.ReadFile("/proc/self/mounts")
	longest, kind := "", "an unknown file system"
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || len(fields[1]) < len(longest) {
			continue
		}
		if point := strings.TrimSuffix(fields[1], "/"); strings.HasPrefix(dir, point+"/") {
			longest, kind = fields[1], fields[2]
		}
	}
	return kind
}
