package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/cmd/loyalty/demo"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/action"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/store"
)

// demoFlags are the size of the demo.
type demoFlags struct {
	customers, events int
	seed              uint64
	quiet             bool
}

// The bounds of a demo. Some events of each member are the enrolment.
const (
	demoLeast  = 10      // customers
	demoMost   = 9_999   // customers
	demoEvents = 5       // for each customer, at least
	demoAll    = 1 << 20 // events
)

func newDemo(s *settings) *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use: "demo", Short: "Fill an empty database with a programme and a year of its members' events", Args: cobra.NoArgs,
		Long: "Fill an empty database with the programme of a coffee and kitchenware shop, in four languages, and with\n" +
			"what its members did in the last thirteen months. Every event goes through the engine, dated back by\n" +
			"effective_timestamp. The same seed on the same day gives the same events and points on either database; only the\n" +
			"codes of the pool coffee-codes are drawn anew. A database that has customers or entities already is refused.\n" +
			"Ctrl-C stops between two batches.\nExit code 0: filled, and the ledger held. 1: stopped or failed. 2: a setting or a flag is wrong.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return use(cmd.Context(), s.open, func(db *store.Store) error { return s.demo(cmd, db, f) })
		},
	}

	flags := cmd.Flags()
	flags.IntVar(&f.customers, "customers", 1_000, "number of customers")
	flags.IntVar(&f.events, "events", 20_000, "number of events to submit; events that follow from them come on top")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the random choices")
	flags.BoolVar(&f.quiet, "quiet", false, "show no progress")
	return cmd
}

func (f demoFlags) check() error {
	switch {
	case f.customers < demoLeast || f.customers > demoMost:
		return coded{codeUsage, fmt.Errorf("--customers: %d is not between %d and %d", f.customers, demoLeast, demoMost)}
	case f.events < demoEvents*f.customers || f.events > demoAll:
		return coded{codeUsage, fmt.Errorf("--events: %d is not between %d (%d for each customer) and %d",
			f.events, demoEvents*f.customers, demoEvents, demoAll)}
	}
	return nil
}

// demo fills the database, runs the jobs on dates and ranks, and proves the ledger.
func (s *settings) demo(cmd *cobra.Command, db *store.Store, f demoFlags) error {
	ctx := cmd.Context()
	if err := s.mustBeEmpty(ctx, db); err != nil {
		return err
	}

	h := &app{store: db, logger: slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))}
	if err := s.wire(ctx, h); err != nil {
		return coded{codeFailed, err}
	}
	defer h.engine.Close()

	h.admin = admin.NewAdmin(admin.AdminOptions{Registry: action.Registry(), Store: db,
		Directory: h.directory, APIs: openapi.Names()})
	d, err := prepareDemo(ctx, h, f, newMeter(cmd.ErrOrStderr(), f))
	if err != nil {
		return coded{codeFailed, err}
	}
	if err := d.live(ctx); err != nil {
		return coded{codeFailed, err}
	}
	if err := d.settle(ctx); err != nil {
		return coded{codeFailed, err}
	}

	return reportDemo(cmd, s, d)
}

// mustBeEmpty refuses a database with an existing programme.
func (s *settings) mustBeEmpty(ctx context.Context, db *store.Store) error {
	customers, err := db.CountCustomers(ctx, loyalty.CustomerQuery{})
	if err != nil {
		return coded{codeFailed, err}
	}
	snapshot, err := db.Snapshot(ctx, []string{loyalty.EveryType})
	if err != nil {
		return coded{codeFailed, err}
	}
	if entities := len(snapshot.Entities); customers > 0 || entities > 0 {
		return fault(s.databaseSetting(), "already has %d customers and %d entities: the demo needs an empty database",
			customers, entities)
	}
	return nil
}

// demoBatch bounds how many events are decided together: a small demo has smaller batches, so that its time advances.
const demoBatch = 100

// demoRun is a demo being filled.
type demoRun struct {
	*app
	demoFlags
	crowd    *demo.Crowd
	meter    *meter
	begun    time.Time
	recorded int                 // accepted submissions
	journal  map[string]int      // events by action, including those that followed
	refused  map[string]int      // submissions by action and reason
	given    map[loyalty.ID]bool // coupons that were given out
}

// prepareDemo sets up the programme.
func prepareDemo(ctx context.Context, h *app, f demoFlags, meter *meter) (*demoRun, error) {
	now := time.Now().UTC().Truncate(time.Second)
	p, err := demo.Read(now)
	if err != nil {
		return nil, err
	}

	products, err := p.Products()
	if err != nil {
		return nil, err
	}
	if err := p.Found(ctx, h.admin, rand.New(rand.NewPCG(f.seed, 2))); err != nil {
		return nil, err
	}

	return &demoRun{
		app: h, demoFlags: f, crowd: demo.NewCrowd(f.seed, f.customers, now, products), meter: meter, begun: now,
		journal: map[string]int{}, refused: map[string]int{}, given: map[loyalty.ID]bool{},
	}, nil
}

// live submits events until the wanted number is recorded: activities of members, then opt-outs, then spins of the
// wheel.
func (d *demoRun) live(ctx context.Context) error {
	spins, leavers := d.events/25, max(1, d.customers/200)
	busy := d.events - spins - leavers
	if err := d.submit(ctx, busy, func(n int) demo.Act { return d.crowd.Next(float64(n) / float64(busy)) }); err != nil {
		return err
	}
	if err := d.submit(ctx, busy+leavers, func(n int) demo.Act { return d.crowd.Leave(n - busy) }); err != nil {
		return err
	}
	return d.submit(ctx, d.events, func(n int) demo.Act { return d.crowd.Spin(n-busy-leavers, spins) })
}

// submit draws and submits batches until the given number of events is recorded.
func (d *demoRun) submit(ctx context.Context, until int, next func(n int) demo.Act) error {
	for d.recorded < until {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("stopped after %d of %d events; these are consistent, but the demo can start again only in an empty database", d.recorded, d.events)
		}
		d.crowd.Begin()
		acts := make([]demo.Act, min(demoBatch, d.events/20, until-d.recorded))
		for i := range acts {
			acts[i] = next(d.recorded + i)
		}
		if err := d.record(ctx, acts); err != nil {
			return err
		}
		d.meter.show(d.recorded)
	}

	return nil
}

// patienceOfDemo is how often a batch is tried if the database does not answer in time, which happens on a busy
// machine.
const patienceOfDemo = 5

// record submits a batch, and repeats the events that were not recorded because the database did not answer. A refusal
// by a rule belongs to a realistic year; any other error ends the demo.
func (d *demoRun) record(ctx context.Context, acts []demo.Act) error {
	for tried := 1; ; tried++ {
		away, err := d.recordOnce(ctx, acts)
		switch {
		case len(away) == 0:
			return err
		case tried == patienceOfDemo:
			return fmt.Errorf("%s of %s: %w", away[0].Action, away[0].Customer, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(tried) * time.Second):
		}
		acts = away
	}
}

// recordOnce returns the acts that were not recorded because the database was away, with the first failure.
func (d *demoRun) recordOnce(ctx context.Context, acts []demo.Act) (away []demo.Act, err error) {
	all := make([]loyalty.Submission, len(acts))
	for i, a := range acts {
		all[i] = a.Submission
	}

	for i, result := range d.engine.SubmitAll(ctx, all) {
		a := acts[i]
		switch e := loyalty.AsError(result.Err); {
		case result.Err == nil:
			d.recorded++
			d.count(result.Outcome.Events)
			d.crowd.Learned(a, result.Outcome)
		case errors.Is(e, loyalty.ErrUnavailable): // nothing was recorded
			away, err = append(away, a), cmp.Or(err, result.Err)
		case e.Kind == loyalty.Internal || e.Kind == loyalty.Invalid:
			return nil, fmt.Errorf("%s of %s: %w", a.Action, a.Customer, result.Err)
		default:
			d.refused[a.Action+": "+e.Name]++
		}
	}

	return away, err
}

// count counts recorded events.
func (d *demoRun) count(events []loyalty.Event) {
	for _, event := range events {
		d.journal[event.Action]++
		if event.Effects == nil {
			continue
		}
		for _, coupon := range event.Effects.Coupons {
			if coupon.Customer != (loyalty.ID{}) {
				d.given[coupon.ID] = true
			}
		}
	}
}

// settle does the nightly work of a server's jobs.
func (d *demoRun) settle(ctx context.Context) error {
	for _, job := range []string{"tiers", "leaderboard"} {
		done, err := d.jobs.Run(ctx, job)
		if err == nil && done.Failed > 0 {
			err = errors.New(done.Result)
		}
		if err != nil {
			return fmt.Errorf("job %s: %w", job, err)
		}
	}
	return nil
}
