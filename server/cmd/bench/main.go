// Command bench measures the service against the floor of its database: F, one
// statement an event, driven by pgbench. Everything runs on a throw-away
// PostgreSQL cluster on this machine's loopback, in turn (A B C A B C …), so
// that ratios hold where the machine's speed drifts. Rates of different runs
// are not comparable.
//
// Reads (read-…) are measured over a year's history of their own, each beside the
// same rows read in SQL; see reads.go.
//
// It starts whatever it measures, checks after each measurement that what was
// acknowledged is recorded, and leaves nothing behind. It ends with 1 only when
// something is wrong, never because something is slow.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == naiveCommand {
		fail(serveNaive(os.Args[2], os.Args[3]))
		return
	}
	var o options
	var only string
	flag.StringVar(&o.binary, "binary", "./loyalty", "the built program")
	flag.IntVar(&o.reps, "reps", 3, "rounds")
	flag.IntVar(&o.seconds, "seconds", 4, "length of one measurement")
	flag.StringVar(&only, "only", "", "measure only what begins with one of these names (comma-separated), and what it is compared with")
	flag.BoolVar(&o.sqlite, "sqlite", false, "measure the program on the embedded database too")
	flag.IntVar(&o.customers, "customers", 100_000, "customers on each database")
	flag.IntVar(&o.events, "events", 1_000_000, "events that the reads are measured over")
	flag.StringVar(&o.dir, "dir", "", "folder for the throw-away databases; it should be on a disk (default: the system's temporary folder)")
	flag.Parse()
	if only != "" {
		o.only = strings.Split(only, ",")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	fail(bench(ctx, o, os.Stdout, os.Stderr))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

var errInterrupted = errors.New("interrupted")

// bench is one run.
func bench(ctx context.Context, o options, out, progress io.Writer) (err error) {
	if err := o.validate(); err != nil {
		return err
	}
	if o.binary, err = filepath.Abs(o.binary); err != nil {
		return err
	}
	chosen := choose(o.only, o.sqlite)
	l, err := openLab(ctx, o, chosen)
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = errInterrupted // what broke off because of it tells nothing
		}
		err = errors.Join(err, l.close())
	}()
	if err != nil {
		return err
	}
	l.describe(progress, o)
	r, err := l.measure(ctx, o, chosen, progress)
	if err != nil {
		return err
	}
	fmt.Fprintln(out)
	if err := r.print(out); err != nil {
		return err
	}
	fmt.Fprintln(out)
	l.describe(out, o)
	return nil
}
