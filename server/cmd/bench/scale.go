package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// scaleCommand, as the first argument, measures the effect of size: see scale.
const scaleCommand = "scale"

// scaleOptions are the flags of the command.
type scaleOptions struct {
	options
	base                          int // events of the small database
	events, customers             int // of the large one on PostgreSQL; without events it is left out
	sqliteEvents, sqliteCustomers int
}

// perCustomer is how many events there are for each customer of the base.
const perCustomer = 10

func scaleFlags(args []string) (o scaleOptions, err error) {
	f := flag.NewFlagSet("bench "+scaleCommand, flag.ContinueOnError)
	f.StringVar(&o.binary, "binary", "./loyalty", "the built program")
	f.IntVar(&o.reps, "reps", 5, "rounds that count; where there are several, one more warms up")
	f.Float64Var(&o.seconds, "seconds", 1, "length of one measurement of writes; lists take two fifths")
	f.DurationVar(&o.wait, "wait", 90*time.Second, "how long to wait for the machine's load to pass before the start")
	f.StringVar(&o.dir, "dir", "",
		"folder for the throw-away databases; it should be on a disk (default: the system's temporary folder)")
	f.IntVar(&o.base, "base", 10_000, "events of the database that the large one is compared with")
	f.IntVar(&o.events, "events", 10_000_000, "events on PostgreSQL; 0: it is left out")
	f.IntVar(&o.customers, "customers", 1_000_000, "customers on PostgreSQL")
	f.IntVar(&o.sqliteEvents, "sqlite-events", 2_000_000, "events on SQLite; 0: it is left out")
	f.IntVar(&o.sqliteCustomers, "sqlite-customers", 200_000, "customers on SQLite")
	f.Usage = func() {
		fmt.Fprintln(f.Output(),
			"Fills a database with many events and one with few, on PostgreSQL and on SQLite, and compares what is done on them.\n"+
				"Exit code 0: measured, on a quiet machine or not (see bench -h). 1: something is wrong, such as a ledger that does not hold.")
		f.PrintDefaults()
	}

	return o, f.Parse(args)
}

func (o scaleOptions) validate() error {
	switch {
	case o.reps < 1:
		return errors.New("-reps must be 1 or more")
	case o.seconds < leastSeconds || o.seconds > 120:
		return errors.New("-seconds must be 0.05 to 120: signed requests are only good for minutes")
	case o.base < 1000:
		return errors.New("-base must be 1,000 or more")
	case o.events != 0 && (o.customers < 1 || o.events < 2*o.customers):
		return errors.New("-events must be twice -customers or more: every customer joins by one")
	case o.sqliteEvents != 0 && (o.sqliteCustomers < 1 || o.sqliteEvents < 2*o.sqliteCustomers):
		return errors.New("-sqlite-events must be twice -sqlite-customers or more: every customer joins by one")
	case o.events == 0 && o.sqliteEvents == 0:
		return errors.New("-events and -sqlite-events are both 0: there is nothing to measure")
	}

	return nil
}

// scale is one run.
func scale(ctx context.Context, o scaleOptions, out, progress io.Writer) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	if o.binary, err = filepath.Abs(o.binary); err != nil {
		return err
	}

	calm := settle(ctx, o.wait, progress)
	m, everything := &machine{}, results{}
	var reports []scaleReport
	if o.events > 0 {
		c, err := startCluster(ctx, o.dir)
		if err != nil {
			return err
		}
		m.database = c.process
		r, err := scaleOn(ctx, o, m, c, o.events, o.customers, progress)
		m.database = nil
		if err = errors.Join(err, c.stop()); err != nil {
			return broken(ctx, fmt.Errorf("PostgreSQL: %w", err))
		}
		reports = append(reports, r)
	}

	if o.sqliteEvents > 0 {
		r, err := scaleOn(ctx, o, m, nil, o.sqliteEvents, o.sqliteCustomers, progress)
		if err != nil {
			return broken(ctx, fmt.Errorf("SQLite: %w", err))
		}
		reports = append(reports, r)
	}

	for _, r := range reports {
		for name, samples := range r.results {
			everything[r.database+name] = samples
		}
	}

	calm.add(everything)
	fmt.Fprintf(out, "\n%s\n", calm.heading())
	for _, r := range reports {
		if err := r.print(out, len(calm.disturbances()) == 0); err != nil {
			return err
		}
	}

	fmt.Fprintf(out,
		"\n%d cores, %s %s/%s, %d rounds of %g s; events are counted at the start, and insert rates are of point_add over 16 connections\n",
		runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, o.reps, o.seconds)
	return nil
}

// broken replaces errors after an interrupt.
func broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errInterrupted
	}
	return err
}

// site is a filled database with a server.
type site struct {
	*server
	launch
	place  string // its name in metrics
	size   int64  // events after the fill
	filled time.Duration
	each   float64 // bytes on disk for each event
	first  map[string][]string
	deep   map[string][]string
}

// The two sites of a comparison, in the names of metrics.
const fewer, more = "few", "many"

// scaleOn fills both databases of a kind and measures them; c is nil for SQLite.
func scaleOn(
	ctx context.Context, o scaleOptions, m *machine, c *cluster, events, customers int, progress io.Writer,
) (r scaleReport, err error) {
	var sites []*site
	defer func() {
		for _, s := range sites {
			err = errors.Join(err, s.close())
		}
		m.programs = nil
	}()

	for _, size := range []struct {
		place             string
		events, customers int
	}{{fewer, o.base, o.base / perCustomer}, {more, events, customers}} {
		if size.place == more {
			if err := enoughSpace(o.dir, sites[0].each*float64(events), c != nil); err != nil {
				return r, err
			}
		}
		s, err := openSite(ctx, o, m, c, size.place, size.events, size.customers, progress)
		if err != nil {
			return r, err
		}
		sites = append(sites, s)
	}

	r = scaleReport{database: sites[0].database, results: results{}, failed: map[string]string{}, sites: sites,
		figures: map[string][2]float64{}}
	if err := r.measure(ctx, o, progress); err != nil {
		return r, err
	}

	return r, r.prove(ctx, o, progress)
}

// openSite fills a new database and starts a server on it.
func openSite(
	ctx context.Context, o scaleOptions, m *machine, c *cluster, place string, events, customers int, progress io.Writer,
) (*site, error) {
	o.options.customers = customers
	url, kind := "", "SQLite"
	if c != nil {
		kind = "PostgreSQL"
		if err := c.exec(ctx, "postgres", "CREATE DATABASE "+place); err != nil {
			return nil, err
		}
		url = c.url(place)
	}

	l, err := prepareLaunch(ctx, o.options, url)
	if err != nil {
		return nil, err
	}

	s := &site{launch: l, place: place, first: map[string][]string{}, deep: map[string][]string{}}
	if err := s.furnish(ctx, c, kind, events, customers, progress); err != nil {
		return nil, errors.Join(err, os.RemoveAll(l.dir))
	}
	if s.server, err = l.start(ctx, o.options, m); err != nil {
		return nil, err
	}

	s.check = func(context.Context, workload, int) error { return nil } // the ledger is proven at the end
	if err := s.rest(ctx, progress); err != nil {
		return nil, errors.Join(err, s.close())
	}

	for _, list := range scaleLists {
		s.first[list], err = s.firstPages(list)
		if err == nil {
			s.deep[list], err = s.deepPages(ctx, list, s.first[list])
		}
		if err != nil {
			fmt.Fprintf(progress, "%s: %s: no page far down: %v\n", place, list, err)
		}
	}

	return s, nil
}

// pastMonths creates the partitions of the journal that a server would have created in the past.
const pastMonths = `SELECT loyalty_journal_month(to_char(month, 'YYYY_MM'), (extract(epoch FROM month) * 1000)::bigint, (extract(epoch FROM month + interval '1 month') * 1000)::bigint)
FROM generate_series(date_trunc('month', now() AT TIME ZONE 'UTC') - interval '12 months', date_trunc('month', now() AT TIME ZONE 'UTC') - interval '1 month', interval '1 month') month`

// furnish fills the database and measures its size on disk.
func (s *site) furnish(ctx context.Context, c *cluster, kind string, events, customers int, progress io.Writer) error {
	if c != nil {
		if err := c.exec(ctx, s.place, pastMonths); err != nil {
			return err
		}
	}

	empty, err := s.onDisk(ctx)
	if err != nil {
		return err
	}

	fmt.Fprintf(progress, "%s: filling in %d events of %d customers\n", kind, events, customers)
	began := time.Now()
	if s.size, err = s.fill(ctx, events, customers, progress); err != nil {
		return fmt.Errorf("filling: %w", err)
	}

	s.filled = time.Since(began)
	if c != nil {
		if err := c.exec(ctx, s.place, "VACUUM ANALYZE", "CHECKPOINT"); err != nil {
			return err
		}
	}

	full, err := s.onDisk(ctx)
	s.each = float64(full-empty) / float64(s.size)
	return err
}

// onDisk is the size of the database in bytes.
func (l launch) onDisk(ctx context.Context) (size int64, err error) {
	if l.url == "" {
		files, err := filepath.Glob(filepath.Join(l.data, "loyalty.db*"))
		for _, name := range files {
			if about, err := os.Stat(name); err == nil {
				size += about.Size()
			}
		}
		return size, err
	}

	db, err := l.open()
	if err != nil {
		return 0, err
	}

	err = db.QueryRowContext(ctx, "SELECT pg_database_size(current_database())").Scan(&size)
	return size, errors.Join(err, db.Close())
}

// The server's own work after a start is over when it and the database use less than this share of a processor for this
// time.
const (
	restShare = 0.15
	restTime  = 2 * time.Second
	restMost  = 5 * time.Minute
)

func (s *site) rest(ctx context.Context, progress io.Writer) error {
	for deadline := time.Now().Add(restMost); time.Now().Before(deadline); {
		w := s.machine.watch(s.process)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(restTime):
		}
		w.stop()
		if float64(w.used.server+w.used.database) < restShare*float64(w.took) {
			return nil
		}
	}

	fmt.Fprintf(progress, "%s: the server is still at work %s after its start\n", s.place, restMost)
	return nil
}

// enoughSpace refuses to fill a disk up. The databases grow during the measurements, and PostgreSQL also keeps its log.
func enoughSpace(dir string, octets float64, log bool) error {
	if dir == "" {
		dir = os.TempDir()
	}

	out, err := exec.Command("df", "-Pk", dir).Output()
	if err != nil {
		return nil //nolint:nilerr // it cannot be told
	}

	need := 1.5*octets + 1<<30
	if log {
		need += min(octets, 16<<30)
	}
	if free, ok := parseFree(string(out)); ok && need > free {
		return fmt.Errorf("%s has %.1f GB free, and this needs about %.1f GB: choose another folder with -dir, or fewer events", dir, free/(1<<30), need/(1<<30))
	}

	return nil
}

// parseFree reads the available space of `df -Pk`, in bytes.
func parseFree(out string) (float64, bool) {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	fields := strings.Fields(lines[len(lines)-1])
	if len(lines) < 2 || len(fields) < 6 {
		return 0, false
	}
	kb, err := strconv.ParseFloat(fields[len(fields)-3], 64)
	return kb * 1024, err == nil
}

// scaleReport is the result on one kind of database.
type scaleReport struct {
	results
	database string
	sites    []*site
	failed   map[string]string     // why a list could not be measured
	figures  map[string][2]float64 // values measured once, by title
}

// item is a figure that is measured on both sites in every round.
type item struct {
	name string
	run  func(context.Context, *site) (sample, error)
}

func (r *scaleReport) items() []item {
	w := workload{name: "insert", connections: 16}.complete()
	all := []item{{"insert", func(ctx context.Context, s *site) (sample, error) { return s.measure(ctx, w) }}}
	for _, list := range scaleLists {
		for _, part := range []struct {
			suffix  string
			targets func(*site) []string
		}{{"", func(s *site) []string { return s.first[list] }},
			{deepSuffix, func(s *site) []string { return s.deep[list] }}} {
			if name := list + part.suffix; len(part.targets(r.sites[0])) > 0 && len(part.targets(r.sites[1])) > 0 {
				all = append(all, item{name,
					func(ctx context.Context, s *site) (sample, error) { return s.measureList(ctx, name, part.targets(s)) }})
			}
		}
	}
	return all
}

const deepSuffix = ", a page far down"

// measure runs the rounds. A list that fails, for example because it takes too long on the large database, is reported
// in its row and not measured again.
func (r *scaleReport) measure(ctx context.Context, o scaleOptions, progress io.Writer) error {
	items := r.items()
	for round := range 1 + o.reps {
		if o.reps == 1 && round == 0 {
			continue
		}

		fmt.Fprintf(progress, "%s: round %d/%d\n", r.database, round, o.reps)
		for _, it := range items {
			for i := range r.sites {
				s := r.sites[(i+round)%2]
				if r.failed[it.name] != "" {
					continue
				}
				got, err := it.run(ctx, s)
				switch {
				case err != nil && (ctx.Err() != nil || it.name == "insert"):
					return err
				case err != nil:
					r.failed[it.name] = fmt.Sprintf("%s: %.200s", s.place, strings.SplitN(err.Error(), "\n", 2)[0])
				case round > 0:
					r.results[it.name+" "+s.place] = append(r.results[it.name+" "+s.place], got)
				}
			}
		}
	}

	return nil
}

// prove measures values outside the rounds: memory, and the proofs, which must hold.
func (r *scaleReport) prove(ctx context.Context, o scaleOptions, progress io.Writer) error {
	set := func(title string, i int, value float64) {
		pair := r.figures[title]
		pair[i] = value
		r.figures[title] = pair
	}

	for i, s := range r.sites {
		set(titleMemory, i, float64(s.memory())/(1<<20))
		set(titleDisk, i, s.each)
		set(titleFill, i, s.filled.Seconds()*1e6/float64(s.size))
		set(titleStart, i, s.coldStart.Seconds())
		var events int64
		if err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM events").Scan(&events); err != nil {
			return err
		}

		for _, proof := range []struct {
			title string
			args  []string
		}{{titleVerify, []string{"ledger", "verify"}}, {titleRebuild, []string{"rebuild", "--verify"}}} {
			fmt.Fprintf(progress, "%s: loyalty %s over %d events\n", r.database, strings.Join(proof.args, " "), events)
			began := time.Now()
			if out, err := program(ctx, o.binary, s.env, proof.args...); err != nil {
				return fmt.Errorf("%w\n%s", err, out)
			}
			set(proof.title, i, time.Since(began).Seconds()*1e6/float64(events))
		}
	}

	return nil
}

// The rows of values that are measured once.
const (
	titleMemory  = "memory of the server after the rounds, MB"
	titleDisk    = "on disk for each event, octets"
	titleFill    = "filling in a million events, s"
	titleStart   = "from the start to the first answer, s"
	titleVerify  = "loyalty ledger verify, s for a million events"
	titleRebuild = "loyalty rebuild --verify, s for a million events"
)

// The targets of the large database against the small one.
var (
	insertTargets = targets{0.70, 0.70}
	listTargets   = targets{1.5, 1.2}
	flatTargets   = targets{1.5, 1.2} // of memory, which must not grow
)

// print writes the tables of one database.
func (r *scaleReport) print(w io.Writer, judged bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	goals := report{judged: judged}
	row := func(cells ...string) { fmt.Fprintln(t, strings.Join(cells, "\t")) }
	row(append([]string{fmt.Sprintf("\n%s: inserts, and lists by p50 in ms", r.database),
		fmt.Sprintf("%d events", r.sites[0].size),
		fmt.Sprintf("%d events", r.sites[1].size), "ratio", "cpu µs server+database+client: few, many"},
		goals.goalHead()...)...)
	line := func(title, name string, c comparison, format string) {
		c.of, c.base = name+" "+more, name+" "+fewer
		ratios := r.ratios(c)
		if why := r.failed[name]; why != "" {
			row(title, "FAILED", why)
			return
		}
		if len(ratios) == 0 {
			return
		}
		row(append([]string{title, fmt.Sprintf(format, r.middle(c.base, c.figure())),
			fmt.Sprintf(format, r.middle(c.of, c.figure())), spread(ratios), r.processors(c.base) + ", " + r.processors(c.of)},
			goals.goals(c.targets, c.less(), median(ratios))...)...)
	}

	line("point_add, 16 connections, events/s", "insert", comparison{targets: insertTargets}, "%.0f")
	for _, list := range scaleLists {
		line("GET "+list, list, comparison{typical: true, targets: listTargets}, "%.2f")
		line("GET "+list+deepSuffix, list+deepSuffix, comparison{typical: true, targets: listTargets}, "%.2f")
	}

	if err := t.Flush(); err != nil {
		return err
	}

	row(append([]string{fmt.Sprintf("\n%s: measured once", r.database), fmt.Sprintf("%d events", r.sites[0].size),
		fmt.Sprintf("%d events", r.sites[1].size), "ratio"}, goals.goalHead()...)...)
	for _, title := range []string{titleMemory, titleStart, titleDisk, titleFill, titleVerify, titleRebuild} {
		aims := targets{}
		if title == titleMemory {
			aims = flatTargets
		}
		pair := r.figures[title]
		ratio := pair[1] / max(pair[0], 1e-9)
		row(append([]string{title, fmt.Sprintf("%.4g", pair[0]), fmt.Sprintf("%.4g", pair[1]), fmt.Sprintf("%.2f", ratio)},
			goals.goals(aims, true, ratio)...)...)
	}

	return t.Flush()
}
