package loyalty

import (
	"context"
	"encoding/json"
	"time"

	"github.com/shopspring/decimal"

	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// BulkBacktest is the kind of a bulk operation that tries a campaign on the events
// of the past; Target is the campaign.
const BulkBacktest = "campaign_backtest"

// BacktestPlan is what a backtest is asked for: the events recorded from From on,
// before To, and the campaign in the form of its entity.
type BacktestPlan struct {
	From     time.Time       `json:"from"`
	To       time.Time       `json:"to"`
	Campaign json.RawMessage `json:"campaign"`
}

// Check fails where the period ends before it begins, and where the campaign, a
// version of the one with this id, does not fit the programme.
func (plan *BacktestPlan) Check(p *Programme, id string) error {
	if !plan.From.Before(plan.To) {
		return fieldFault("to", "must_follow", map[string]any{"other": "from"})
	}
	_, err := p.Draft(id, plan.Campaign)
	return locate(err, "campaign.")
}

// BacktestFigures is what a campaign would have given.
type BacktestFigures struct {
	Events  int64  `json:"events"` // how often
	Winners int64  `json:"winners"`
	Points  int64  `json:"points"`
	Coupons int64  `json:"coupons"`
	Fault   string `json:"fault,omitempty"` // why it could not be tried
}

// chance is something of the past at which a campaign could have given: the
// campaign's condition held. Or it is a merge.
type chance struct {
	customer ID
	base     int64 // the points that multiply looks at
	merged   ID    // who became part of the customer; zero: it is no merge
}

// Backtest counts what a campaign would have given, chance by chance in the order
// of recording. It remembers those who won.
type Backtest struct {
	BacktestFigures
	campaign *Campaign
	on       map[string]bool
	rounding money.Rounding
	times    map[ID]int64 // it gave a customer something
	labelled map[ID]bool  // who got a label: a merge does not bring them along
	into     map[ID]ID    // who was merged, into whom
}

func newBacktest(p *Programme, c *Campaign) *Backtest {
	return &Backtest{campaign: c, on: p.On, rounding: p.Purchase.Rounding, times: map[ID]int64{}, labelled: map[ID]bool{}, into: map[ID]ID{}}
}

// take looks at one chance.
func (b *Backtest) take(x chance) {
	customer := b.survivor(x.customer)
	if x.merged != (ID{}) {
		b.merge(b.survivor(x.merged), customer)
		return
	}
	l := &b.campaign.Limit
	if l.PerCustomer != nil && b.times[customer] >= *l.PerCustomer || l.Total != nil && b.Events >= *l.Total {
		return
	}
	given := false
	for i := range b.campaign.Effects {
		given = b.give(&b.campaign.Effects[i], customer, x.base) || given
	}
	if !given {
		return
	}
	if b.times[customer] == 0 {
		b.Winners++
	}
	b.times[customer]++
	b.Events++
}

// give counts one effect and says whether it gives anything. Who has a label or a
// tier does not get it again.
func (b *Backtest) give(f *Effect, customer ID, base int64) bool {
	if m := effectModules[f.Type]; m != "" && !b.on[m] {
		return false
	}
	switch f.Type {
	case EffectPoints:
		b.Points += f.Points
		return true
	case EffectMultiply:
		n, err := b.rounding.Whole(decimal.NewFromInt(base).Mul(f.extra))
		if err != nil || n <= 0 || n > points.Max {
			return false
		}
		b.Points += n
		return true
	case EffectCoupon:
		b.Coupons++
		return true
	case EffectLabel:
		has := b.labelled[customer]
		b.labelled[customer] = true
		return !has
	case EffectTier:
		return b.times[customer] == 0
	}
	return true
}

func (b *Backtest) survivor(id ID) ID {
	for range len(b.into) {
		into, merged := b.into[id]
		if !merged {
			break
		}
		id = into
	}
	return id
}

// merge makes one winner of two.
func (b *Backtest) merge(source, target ID) {
	if source == target {
		return
	}
	if b.times[source] > 0 && b.times[target] > 0 {
		b.Winners--
	}
	if n := b.times[source]; n > 0 {
		b.times[target] += n
		delete(b.times, source)
	}
	b.into[source] = target
}

// trial is a backtest under way, kept from step to step while the program lives. One
// that is not at hand any more begins again.
type trial struct {
	*Backtest
	plan    BacktestPlan
	after   Cursor
	done    int64
	total   int64
	version int64 // of the operation, when it was left
}

// backtestPiece is how long one step reads, and backtestChunk how many events it
// has in memory.
const (
	backtestPiece = time.Second
	backtestChunk = 256
)

// backtest is the step of the bulk operation.
func backtest(ctx context.Context, w *bulkWork) error {
	t, _ := w.memory.(*trial)
	if t == nil || t.version != w.Version {
		var err error
		if t, err = w.beginBacktest(ctx); err != nil {
			return err
		}
		w.memory = t
	}
	more, began := t.Fault == "", time.Now()
	for more && time.Since(began) < backtestPiece {
		var err error
		if more, err = t.read(ctx, w); err != nil {
			w.memory = nil
			return err
		}
	}
	if !more {
		w.State, t.done = BulkDone, t.total
	}
	w.Done, w.Total, w.Progress = t.done, t.total, marshal(t.BacktestFigures)
	t.version = w.Version + 1
	return nil
}

// beginBacktest compiles the campaign by the programme of now, which may not fit it
// any more.
func (w *bulkWork) beginBacktest(ctx context.Context) (*trial, error) {
	t := &trial{}
	if err := json.Unmarshal(w.Parameters, &t.plan); err != nil {
		return nil, err
	}
	p := w.Engine.programmes.Programme()
	c, err := p.Draft(w.Target, t.plan.Campaign)
	t.Backtest = newBacktest(p, c)
	if t.Fault = faultOf(err); t.Fault != "" {
		return t, nil
	}
	t.total, err = w.Store.CountPast(ctx, t.query(0))
	return t, err
}

// faultOf tells which field does not fit the programme any more; empty: all do.
func faultOf(err error) string {
	if err == nil {
		return ""
	}
	e := AsError(err)
	for _, d := range e.Details {
		return d.Field + ": " + e.Error()
	}
	return e.Error()
}

func (t *trial) query(limit int) PastQuery {
	q := PastQuery{Actions: []string{"merge"}, From: t.plan.From, Before: t.plan.To, After: t.after, Limit: limit}
	for _, action := range t.campaign.pastActions() {
		if action != "merge" {
			q.Actions = append(q.Actions, action)
		}
	}
	return q
}

// read looks at the next events; false: there are no more.
func (t *trial) read(ctx context.Context, w *bulkWork) (more bool, err error) {
	q := t.query(backtestChunk)
	events, err := w.Store.PastEvents(ctx, q)
	if err != nil || len(events) == 0 {
		return false, err
	}
	chances, err := w.Engine.chances(ctx, t.campaign, events)
	if err != nil {
		return false, err
	}
	for _, x := range chances {
		t.take(x)
	}
	last := &events[len(events)-1]
	t.after, t.done = Cursor{last.RecordedAt, last.ID}, t.done+int64(len(events))
	t.total = max(t.total, t.done)
	return len(events) == q.Limit, nil
}

func init() { bulkKinds[BulkBacktest] = bulkKind{step: backtest} }
