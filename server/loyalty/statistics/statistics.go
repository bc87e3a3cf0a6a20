// Package statistics keeps figures of the programme by day. They are folded from the tail, apart from the events
// themselves, which are not slowed down, together with hourly snapshots of the state.
package statistics

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/calendar"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/tail"
)

// foldedPage is how many events are folded at once.
const foldedPage = 1000

// maxTries is how often a fold is tried when other nodes are faster.
const maxTries = 12

// foldTime limits how long a reader waits for the whole fold.
const foldTime = 8 * time.Second

// Statistics folds figures and reads them. Any number of nodes may do so at once: the position in
// the tail is written together with the figures, so that nothing counts twice.
type Statistics struct {
	store      loyalty.StatisticsStore
	programmes engine.Programmes
	now        func() time.Time
	patience   time.Duration
	turn       chan struct{} // its holder folds: a reader who waits for it finds little left
	tail       *tail.Tail
}

// Options is what a Statistics is made of.
type Options struct {
	Store      loyalty.StatisticsStore
	Programmes engine.Programmes
	// Clock is the engine's clock; nil means the system's.
	Clock func() time.Time
	// Patience is how long a reader folds: if more is left then, the job folds it, and the answer says so. 0 means a
	// second; with a negative value readers do not fold.
	Patience time.Duration
}

// New makes a Statistics. It starts nothing.
func New(o Options) *Statistics {
	s := &Statistics{store: o.Store, programmes: o.Programmes, now: o.Clock, patience: cmp.Or(o.Patience, time.Second),
		turn: make(chan struct{}, 1)}
	if s.now == nil {
		s.now = time.Now
	}
	s.tail = tail.New(s.store, s.now)
	return s
}

// folding brings the figures up to date once.
type folding struct {
	*Statistics
	more     func() bool // whether there is time for more
	folded   func(events int)
	state    loyalty.StatisticsState
	location *time.Location
}

// fresh folds what was committed until now, as far as patience allows, and returns how far the figures are.
func (s *Statistics) fresh(ctx context.Context) (*folding, error) {
	ctx, cancel := context.WithTimeout(ctx, foldTime)
	defer cancel()
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, loyalty.ErrUnavailable.Because(ctx.Err())
	}
	defer func() { <-s.turn }()

	end := time.Now().Add(s.patience)
	f := &folding{Statistics: s, more: func() bool { return time.Now().Before(end) }}
	if err := f.run(ctx); err != nil {
		return nil, loyalty.OutcomeError(err)
	}

	return f, nil
}

// run folds what was committed until now, in competition with other nodes.
func (f *folding) run(ctx context.Context) error {
	for tries := 1; ; tries++ {
		if err := f.follow(ctx); !errors.Is(err, loyalty.ErrBatchConflict) || tries == maxTries {
			return err
		}
	}
}

func (f *folding) follow(ctx context.Context) error {
	if err := f.open(ctx); err != nil {
		return err
	}
	whole, err := f.tail.Follow(ctx, f.more, func() (last bool, err error) { return f.step(ctx) })
	if err != nil {
		return err
	}
	if whole {
		f.state.Behind, f.state.Whole = 0, true
		return nil
	}
	return f.open(ctx)
}

// step folds the next events of the tail.
func (f *folding) step(ctx context.Context) (last bool, err error) {
	events, last, err := f.store.FoldFigures(ctx, f.state.Generation, foldedPage,
		func(p *loyalty.FigurePiece) []loyalty.Figure {
			return foldPiece(p, f.location)
		})
	if err == nil && f.folded != nil {
		f.folded(events)
	}
	return last, err
}

// open reads the state, and begins a new generation if the programme's days have changed, as with its time zone.
func (f *folding) open(ctx context.Context) (err error) {
	if f.state, err = f.store.StatisticsState(ctx); err != nil {
		return err
	}

	p, before := f.programmes.Programme(), f.state
	zone := p.Location.String()
	if before.Zone != zone && p.Version >= before.Version { // an older programme does not have the change yet
		after := before
		after.Zone, after.Version, after.Generation = zone, p.Version, before.Generation+1
		switch ok, err := f.store.SwapStatistics(ctx, before, after); {
		case err != nil:
			return err
		case !ok:
			return loyalty.ErrBatchConflict
		}
		f.state = after
	}

	f.location, err = time.LoadLocation(f.state.Zone)
	return err
}

// photographEvery is how often a snapshot is taken: the last one of a day stands for the day.
const photographEvery = time.Hour

// activeFor is how long a customer counts as active after an event.
const activeFor = 30 * 24 * time.Hour

// Count brings the figures up to date, and takes a snapshot if one is due. folded is called with
// the number of events folded.
func (s *Statistics) Count(ctx context.Context, folded func(events int)) error {
	f := folding{Statistics: s, more: func() bool { return ctx.Err() == nil }, folded: folded}
	if err := f.run(ctx); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return f.photograph(ctx)
}

// photograph stores the present state. If the clock was set back it takes a snapshot at once.
func (f *folding) photograph(ctx context.Context) error {
	now, last := f.now(), f.state.Photographed
	today := calendar.DayOf(now, f.location)
	if since := now.Sub(last); !last.IsZero() && since >= 0 && since < photographEvery &&
		calendar.DayOf(last, f.location) == today {
		return nil
	}
	p, err := f.store.Photograph(ctx, now, now.Add(-activeFor))
	if err != nil {
		return err
	}
	return f.store.KeepPhotograph(ctx, now, int(today), photographed(&p, int(today)))
}

func photographed(p *loyalty.Photograph, day int) []loyalty.Figure {
	figure := func(metric string, key loyalty.FigureKey) loyalty.Figure {
		return loyalty.Figure{Metric: metric, Key: key, Day: day}
	}
	members, active := figure(loyalty.MetricMembers, loyalty.FigureKey{}),
		figure(loyalty.MetricActive, loyalty.FigureKey{})
	outstanding, debt := figure(loyalty.MetricOutstanding, loyalty.FigureKey{}),
		figure(loyalty.MetricDebt, loyalty.FigureKey{})
	members.Value.SetInt64(p.Members)
	active.Value.SetInt64(p.Active)
	outstanding.Value.Set(&p.Outstanding)
	debt.Value.Set(&p.Debt)
	all := []loyalty.Figure{members, active, outstanding, debt}
	whole := figure(loyalty.MetricTiers, loyalty.FigureKey{})
	for tier, n := range p.Tiers {
		f := figure(loyalty.MetricTiers, loyalty.NewFigureKey(loyalty.ByTier, "", tier))
		f.Value.SetInt64(n)
		whole.Value.Add(&whole.Value, &f.Value)
		all = append(all, f)
	}

	return append(all, whole)
}
