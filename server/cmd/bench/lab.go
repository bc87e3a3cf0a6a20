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
)

func (o options) validate() error {
	switch {
	case o.reps < 1:
		return errors.New("-reps must be 1 or more")
	case o.seconds < leastSeconds || o.seconds > 120:
		return errors.New("-seconds must be 0.05 to 120: signed requests are only good for minutes")
	case o.customers < 1:
		return errors.New("-customers must be 1 or more")
	case o.events < 1000 || o.events > 100_000_000:
		return errors.New("-events must be 1,000 to 100,000,000")
	}

	for _, prefix := range o.only {
		if len(choose([]string{prefix}, o.sqlite)) == 0 {
			return fmt.Errorf("-only: nothing is called %q; there are %s (sqlite with -sqlite)",
				prefix, strings.Join(names(), ", "))
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
	machine        *machine
	cluster        *cluster
	floor          *floor
	naive          *service
	server, sqlite *server
	programme      *server // with the rules of programme.json
	reads          *reads
}

// openLab starts what the metrics need. The lab has what was started even if it fails: close it in any case.
func openLab(ctx context.Context, o options, chosen []metric) (l *lab, err error) {
	l = &lab{machine: &machine{}}
	needs := func(prefix string) bool {
		return slices.ContainsFunc(chosen, func(m metric) bool { return strings.HasPrefix(m.name, prefix) })
	}
	if l.cluster, err = startCluster(ctx, o.dir); err != nil {
		return l, err
	}

	l.machine.database = l.cluster.process
	if l.floor, err = newFloor(ctx, o, l.machine, l.cluster); err != nil {
		return l, err
	}

	if needs("naive") {
		if l.naive, err = startNaive(ctx, o.dir, l.machine, l.floor); err != nil {
			return l, fmt.Errorf("naive: %w", err)
		}
	}

	if err = l.openServers(ctx, o, needs); err != nil {
		return l, err
	}

	if needs("read") {
		if l.reads, err = startReads(ctx, o, l.machine, l.cluster); err != nil {
			return l, fmt.Errorf("reads: %w", err)
		}
	}

	return l, nil
}

// openServers starts the servers, and populates them after all have started: jobs over many customers must not run
// beside a start that is measured.
func (l *lab) openServers(ctx context.Context, o options, needs func(string) bool) error {
	var opened []*server
	for _, s := range []struct {
		name, database string // without database: the embedded one
		rules          []entity
		at             **server
	}{{"sqlite", "", nil, &l.sqlite}, {"server", "loyalty", nil, &l.server},
		{"programme", "programme", programme, &l.programme}} {
		if !needs(s.name) {
			continue
		}

		url := ""
		if s.database != "" {
			if err := l.cluster.exec(ctx, "postgres", "CREATE DATABASE "+s.database); err != nil {
				return err
			}
			url = l.cluster.url(s.database)
		}

		var err error
		if *s.at, err = startServer(ctx, o, l.machine, url, s.rules...); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}

		opened = append(opened, *s.at)
	}

	for _, s := range opened {
		if err := s.populate(ctx); err != nil {
			return fmt.Errorf("customers on %s: %w", s.database, err)
		}
	}

	return nil
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

// measure runs the rounds and reports each measurement. With several rounds, an additional first one warms up and does
// not count. Rounds alternate between forwards and backwards, so that drift affects both sides of a ratio.
func (l *lab) measure(ctx context.Context, o options, chosen []metric, progress io.Writer) (results, error) {
	r := results{}
	for round := range 1 + o.reps {
		if o.reps == 1 && round == 0 {
			continue
		}

		name := fmt.Sprintf("round %d/%d", round, o.reps)
		if round == 0 {
			name = "warming up"
		}

		for i := range chosen {
			m := chosen[i]
			if round%2 == 1 {
				m = chosen[len(chosen)-1-i]
			}
			s, err := m.run(ctx, l)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
			if round > 0 {
				r[m.name] = append(r[m.name], s)
			}
			fmt.Fprintf(progress,
				"%s  %-25s %8.0f/s  p50 %7.2f ms  p99 %7.2f ms  cpu %4.0f+%.0f+%.0f µs  idle %2.0f %%  others %2.0f %%\n",
				name, m.name, s.rate, s.p50, s.p99, s.server, s.database, s.client, 100*s.idle, 100*s.others)
		}
	}

	return r, nil
}

// starts are the started programs.
func (l *lab) starts() (all []started) {
	servers := []*server{l.server, l.programme, l.sqlite}
	if l.reads != nil {
		servers = append(servers, l.reads.server)
	}
	for _, s := range servers {
		if s != nil {
			all = append(all, s.started)
		}
	}
	return all
}

// describe writes the conditions of the figures.
func (l *lab) describe(w io.Writer, o options) {
	fmt.Fprintf(w,
		"%d cores, %s %s/%s, PostgreSQL %s (fsync and synchronous_commit on, files on %s), %d customers, %d rounds of %g s after one that warmed up;\n"+
			"ratios are taken within a round: their median and [quartiles]. cpu is that of all processors for one event (of a bulk too); idle is their share\n",
		runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, l.cluster.version, fileSystem(l.cluster.dir),
		o.customers, o.reps, o.seconds)
	if l.reads != nil {
		fmt.Fprintf(w, "the reads: over %d events, one connection, customers with long histories\n", o.events)
	}
}

// fileSystem names the file system of a folder: on one in memory a durable commit costs nothing, and the figures mean
// little.
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
