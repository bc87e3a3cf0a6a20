// Command bench measures the service against the floor of its database: F, one statement for each event, driven by
// pgbench. Everything runs on a throw-away PostgreSQL cluster on this machine's loopback, in many short rounds that
// alternate between forwards and backwards (A B C C B A …). Ratios are taken within a round, so that they hold although
// the machine's speed drifts; rates of different runs are not comparable. Requests are signed before the clock starts,
// and answers are only read to their end: the naive form and the server have the same client.
//
// `bench scale` measures the effect of the database's size; see scale.go.
//
// Reads (read-…) are measured over a year's history of their own, each beside the same rows read in SQL; see reads.go.
//
// It starts everything that it measures, checks after each measurement that what was acknowledged is recorded, and
// leaves nothing behind. It ends with 1 only if something is wrong, never because something is slow. If the machine was
// not quiet, the report begins with that, calls itself NOT A RESULT and does not say which targets are reached; it ends
// with 0 nevertheless.
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
	"time"
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == naiveCommand {
		fail(serveNaive(os.Args[2], os.Args[3]))
		return
	}

	var scaled *scaleOptions
	if len(os.Args) > 1 && os.Args[1] == scaleCommand {
		o, err := scaleFlags(os.Args[2:])
		switch {
		case errors.Is(err, flag.ErrHelp):
			return
		case err != nil:
			os.Exit(2) // the flags have reported why
		}
		scaled = &o
	}

	var measured *besideOptions
	if len(os.Args) > 1 && os.Args[1] == besideCommand {
		o, err := besideFlags(os.Args[2:])
		switch {
		case errors.Is(err, flag.ErrHelp):
			return
		case err != nil:
			os.Exit(2) // the flags have reported why
		}
		measured = &o
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if scaled != nil {
		fail(scale(ctx, *scaled, os.Stdout, os.Stderr))
		return
	}

	if measured != nil {
		fail(measured.validate())
		fail(beside(ctx, *measured, os.Stdout, os.Stderr))
		return
	}

	var o options
	var only string
	flag.StringVar(&o.binary, "binary", "./loyalty", "the built program")
	flag.IntVar(&o.reps, "reps", 7, "rounds that count; where there are several, one more warms up")
	flag.Float64Var(&o.seconds, "seconds", 1, "length of one measurement")
	flag.DurationVar(&o.wait, "wait", 90*time.Second, "how long to wait for the machine's load to pass before the start")
	flag.StringVar(&only, "only", "",
		"measure only what begins with one of these names (comma-separated), and what it is compared with")
	flag.BoolVar(&o.sqlite, "sqlite", false, "measure the program on the embedded database too")
	flag.IntVar(&o.customers, "customers", 100_000, "customers on each database")
	flag.IntVar(&o.events, "events", 1_000_000, "events that the reads are measured over")
	flag.StringVar(&o.dir, "dir", "",
		"folder for the throw-away databases; it should be on a disk (default: the system's temporary folder)")
	flag.Usage = usageOf
	flag.Parse()
	if only != "" {
		o.only = strings.Split(only, ",")
	}

	fail(bench(ctx, o, os.Stdout, os.Stderr))
}

func usageOf() {
	fmt.Fprintf(flag.CommandLine.Output(),
		"Measures the program against the floor of its database. On a machine that is not quiet (a load of more than %.2f for each\n"+
			"processor before the start; then more than %.0f %% of the processors taken by the host, or more than %.0f %% used by others) the report\n"+
			"says NOT A RESULT and not what is reached. Exit code 0: measured, on a quiet machine or not. 1: something is wrong.\n",
		mostLoad, 100*mostSteal, 100*mostOthers)
	flag.PrintDefaults()
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
	calm := settle(ctx, o.wait, progress)
	l, err := openLab(ctx, o, chosen)
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = errInterrupted // errors after an interrupt mean nothing
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

	calm.add(r)
	fmt.Fprintf(out, "\n%s\n\n", calm.heading())
	if err := (report{r, l.starts(), len(calm.disturbances()) == 0}).print(out); err != nil {
		return err
	}

	fmt.Fprintln(out)
	l.describe(out, o)
	return nil
}
