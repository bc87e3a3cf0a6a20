package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// besideCommand, as the first argument, measures the effect of the platform's own work on callers that submit events
// meanwhile: see beside.
const besideCommand = "beside"

// besideText is what the work needs of a programme: the reward that is claimed, then the tiers.
//
//go:embed beside.json
var besideText []byte

var (
	besideEntities = readProgramme(besideText)
	besideReward   = besideEntities[0]
	besideTiers    = besideEntities[1:]
)

// mostBeside bounds the p99 beside the work, as a multiple of the p99 without it.
const mostBeside = 2

type besideOptions struct {
	options
	items     int
	alone     int // rounds without the work, before each kind of it
	patience  time.Duration
	databases string
}

func besideFlags(args []string) (o besideOptions, err error) {
	f := flag.NewFlagSet("bench "+besideCommand, flag.ContinueOnError)
	f.StringVar(&o.binary, "binary", "./loyalty", "the built program")
	f.IntVar(&o.items, "items", 100_000, "customers, each of whom is an item of each kind of work")
	f.IntVar(&o.alone, "alone", 7, "measurements of events alone, before each kind of work")
	f.Float64Var(&o.seconds, "seconds", 1, "length of one measurement of events")
	f.DurationVar(&o.patience, "patience", 15*time.Minute, "how long one kind of work may take")
	f.DurationVar(&o.wait, "wait", 90*time.Second, "how long to wait for the machine's load to pass before the start")
	f.StringVar(&o.dir, "dir", "", "folder for the throw-away databases; it should be on a disk (default: the system's temporary folder)")
	f.StringVar(&o.databases, "databases", "postgres,sqlite", "on which to measure")
	var only string
	f.StringVar(&only, "only", "", "measure only these kinds of work (comma-separated): "+strings.Join(workNames(), ", "))
	f.Usage = func() {
		fmt.Fprintln(f.Output(), "Has the program do what nobody waits for, once for each customer, and measures the events of others meanwhile.\n"+
			"Exit code 0: measured, on a quiet machine or not (see bench -h). 1: something is wrong.")
		f.PrintDefaults()
	}

	if err = f.Parse(args); err == nil && only != "" {
		o.only = strings.Split(only, ",")
	}

	o.customers, o.reps = o.items, 1
	return o, err
}

// validate refuses options without meaning: fewer items are done before much is measured.
func (o besideOptions) validate() error {
	if o.items < 1000 || o.alone < 1 {
		return errors.New("-items must be 1,000 or more, -alone 1 or more")
	}
	for _, name := range o.only {
		if !slices.Contains(workNames(), name) {
			return fmt.Errorf("-only: there is no work called %q", name)
		}
	}
	return nil
}

// work is a kind of work that the platform does by itself.
type work struct {
	name, title string
	// begin starts it for every customer, to be done at an instant that it returns.
	begin func(s *server, ctx context.Context) (time.Time, error)
	// left is a statement that counts the remaining items. $1 stands for the present instant in milliseconds.
	left string
}

// works are in an order in which each finds the customers as the previous one left them.
var works = []work{
	{"claims", "a claim of a reward", (*server).claimAll, "SELECT (SELECT count(*) FROM customers) - (SELECT count(*) FROM claims)"},
	{"lots", "a lot that expires", (*server).expireAll, "SELECT count(*) FROM balances WHERE due_at <= $1"},
	{"tiers", "a tier that is new", (*server).raiseAll, "SELECT (SELECT count(*) FROM customers) - (SELECT count(*) FROM events WHERE action = 'tier_up')"},
	{"purchases", "a purchase whose date of acceptance comes", (*server).acceptAll, "SELECT count(*) FROM balances WHERE due_at <= $1"},
}

func workNames() (names []string) {
	for _, w := range works {
		names = append(names, w.name)
	}
	return names
}

// besides is the result for one kind of work.
type besides struct {
	database, title string
	items           int
	took            time.Duration
	alone, beside   []sample
}

// beside measures, on each database, the events of sixteen callers without the platform's own work, and while each kind
// of it runs.
func beside(ctx context.Context, o besideOptions, out, progress io.Writer) (err error) {
	if o.binary, err = filepath.Abs(o.binary); err != nil {
		return err
	}

	calm := settle(ctx, o.wait, progress)
	m, everything := &machine{}, results{}
	var rows []besides
	for _, database := range strings.Split(o.databases, ",") {
		url := ""
		var c *cluster
		if database == "postgres" {
			if c, err = startCluster(ctx, o.dir); err != nil {
				return err
			}
			m.database = c.process
			if err = c.exec(ctx, "postgres", "CREATE DATABASE loyalty"); err == nil {
				url = c.url("loyalty")
			}
		}

		var some []besides
		if err == nil {
			some, err = besideOn(ctx, o, m, url, progress)
		}

		if c != nil {
			m.database = nil
			err = errors.Join(err, c.stop())
		}

		if err != nil {
			return broken(ctx, fmt.Errorf("%s: %w", database, err))
		}

		rows = append(rows, some...)
	}

	for _, r := range rows {
		everything[r.database+r.title] = append(r.alone, r.beside...)
	}

	calm.add(everything)
	fmt.Fprintf(out, "\n%s\n\n", calm.heading())
	return printBesides(out, rows, len(calm.disturbances()) == 0)
}

// besideOn measures on one database.
func besideOn(ctx context.Context, o besideOptions, m *machine, url string, progress io.Writer) (rows []besides, err error) {
	s, err := newServer(ctx, o.options, m, url)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()

	// the work writes events of its own, so counting cannot check the callers' events
	s.check = func(context.Context, workload, int) error { return nil }
	for _, w := range works {
		if len(o.only) > 0 && !slices.Contains(o.only, w.name) {
			continue
		}
		row := besides{database: s.database, title: w.title, items: o.items}
		if err := s.besideOne(ctx, o, w, &row, progress); err != nil {
			return nil, fmt.Errorf("%s: %w\nthe end of the server's log:\n%s", w.name, err, s.tail())
		}
		rows = append(rows, row)
	}

	return rows, nil
}

func (s *server) besideOne(ctx context.Context, o besideOptions, w work, row *besides, progress io.Writer) error {
	events := workload{name: "events beside", connections: 16}.complete()
	for range o.alone {
		one, err := s.measure(ctx, events)
		if err != nil {
			return err
		}
		row.alone = append(row.alone, one)
	}

	from, err := w.begin(s, ctx)
	if err != nil {
		return err
	}
	if err := s.vacuum(ctx); err != nil {
		return err
	}

	time.Sleep(time.Until(from))
	first, last := time.Time{}, time.Time{}
	before, err := s.leftOf(ctx, w)
	for deadline := time.Now().Add(o.patience); err == nil && before > 0; {
		began := time.Now()
		var one sample
		if one, err = s.measure(ctx, events); err != nil {
			break
		}

		var now int
		if now, err = s.leftOf(ctx, w); err != nil {
			break
		}

		if now < before {
			if first.IsZero() {
				first = began
			}
			row.beside, last = append(row.beside, one), time.Now()
		} else if time.Now().After(deadline) {
			return fmt.Errorf("%d of %d are not done after %s", now, o.items, o.patience)
		}

		fmt.Fprintf(progress, "%-10s %-9s  %7d left  %7.0f events/s  p99 %7.2f ms\n", s.database, w.name, now, one.rate, one.p99)
		before = now
	}

	row.took = last.Sub(first)
	return err
}

func (s *server) leftOf(ctx context.Context, w work) (n int, err error) {
	var args []any
	if strings.Contains(w.left, "$1") {
		args = append(args, time.Now().UnixMilli())
	}
	return n, s.db.QueryRowContext(ctx, w.left, args...).Scan(&n)
}

// claimAll starts a bulk operation that claims a reward for every customer.
func (s *server) claimAll(ctx context.Context) (time.Time, error) {
	if err := s.create(ctx, besideReward); err != nil {
		return time.Time{}, err
	}
	var b bytes.Buffer
	b.WriteString(`{"customers":[`)
	for n := range s.customers {
		if n > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"%d"`, n+1)
	}
	b.WriteString(`]}`)
	return time.Now(), s.post(ctx, "/v1/bulk-operation/reward/claim/thanks", b.Bytes())
}

// expireAll gives every customer points that were earned a year ago and expire in a moment.
func (s *server) expireAll(ctx context.Context) (time.Time, error) {
	if err := s.post(ctx, "/admin/modules/points_economy", []byte(`{"enabled":true,"config":{"expiry":{"policy":"rolling","months":12}}}`)); err != nil {
		return time.Time{}, err
	}
	at := s.soon()
	return at, s.each(ctx, "lots", func(b *bytes.Buffer, customer int) {
		fmt.Fprintf(b, `{"customer":"%d","action":"point_add","data":{"points":5,"effective_timestamp":"%s"}}`, customer, at.UTC().AddDate(-1, 0, 0).Format(time.RFC3339))
	})
}

// raiseAll gives every customer a point and makes tiers, so that every customer gets into the first one.
func (s *server) raiseAll(ctx context.Context) (time.Time, error) {
	if err := s.each(ctx, "points", func(b *bytes.Buffer, customer int) {
		fmt.Fprintf(b, `{"customer":"%d","action":"point_add","data":{"points":1}}`, customer)
	}); err != nil {
		return time.Time{}, err
	}
	for _, e := range besideTiers {
		if err := s.create(ctx, e); err != nil {
			return time.Time{}, err
		}
	}
	return time.Now(), nil
}

// acceptAll makes a purchase for every customer, to be accepted a moment later.
func (s *server) acceptAll(ctx context.Context) (time.Time, error) {
	if err := s.post(ctx, "/admin/modules/checkout_accept", []byte(`{"enabled":true}`)); err != nil {
		return time.Time{}, err
	}
	at := s.soon()
	return at, s.each(ctx, "purchases", func(b *bytes.Buffer, customer int) {
		fmt.Fprintf(b, `{"customer":"%d","action":"checkout","data":{"transaction_id":"%s-beside-%d","total":20,"auto_accept":"%s","items":[{"product_id":"p-1","product_name":"Beans","product_url":"https://shop.test/p/1","quantity":1,"subtotal":20}]}}`,
			customer, run, customer, at.UTC().Format(time.RFC3339))
	})
}

// soon is when the entries of every customer fall due: after the last of them is made, in whole seconds.
func (s *server) soon() time.Time {
	return time.Now().Add(5*time.Second + time.Duration(s.customers)*1200*time.Microsecond).Truncate(time.Second)
}

// each submits an event of every customer.
func (s *server) each(ctx context.Context, name string, body func(*bytes.Buffer, int)) error {
	const batch = 100
	return s.submit(ctx, workload{name: name, body: func(b *bytes.Buffer, p picker) {
		b.WriteString(`{"events":[`)
		first := p.number * batch
		for i := range min(batch, s.customers-first) {
			if i > 0 {
				b.WriteByte(',')
			}
			body(b, first+i+1)
		}
		b.WriteString(`]}`)
	}}, (s.customers+batch-1)/batch)
}

func printBesides(out io.Writer, rows []besides, judged bool) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "database\twork, for each customer\titems/s\tevents/s alone\tbeside\tp99 ms alone\tbeside\tratio\twanted")
	for _, r := range rows {
		rate, p99 := func(s []sample) float64 { return median(column(s, func(s sample) float64 { return s.rate })) }, func(s []sample) float64 {
			return median(column(s, func(s sample) float64 { return s.p99 }))
		}
		wanted := fmt.Sprintf("≤ %d", mostBeside)
		if ratio := p99(r.beside) / p99(r.alone); judged && ratio > mostBeside {
			wanted += " NO"
		} else if judged {
			wanted += " reached"
		}
		fmt.Fprintf(t, "%s\t%s\t%.0f\t%.0f\t%.0f\t%.1f\t%.1f\t%.2f\t%s\n", r.database, r.title, float64(r.items)/max(r.took.Seconds(), 0.001),
			rate(r.alone), rate(r.beside), p99(r.alone), p99(r.beside), p99(r.beside)/p99(r.alone), wanted)
	}

	return t.Flush()
}

// column is one figure of some samples.
func column(all []sample, figure func(sample) float64) (list []float64) {
	for _, s := range all {
		list = append(list, figure(s))
	}
	return list
}
