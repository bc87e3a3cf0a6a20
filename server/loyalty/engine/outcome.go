package engine

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// refusedAtOnce explains the refusals that depend on no customer: a module that is off, and an
// action that cannot be submitted.
func refusedAtOnce(err error) []loyalty.Verdict {
	reason := ""
	switch {
	case errors.Is(err, loyalty.ErrActionOff), errors.Is(err, loyalty.ErrModuleOff):
		reason = "reason.module_is_off"
	case errors.Is(err, loyalty.ErrInternalAction):
		reason = "reason.internal_action"
	default:
		return nil
	}
	return []loyalty.Verdict{{Rule: "module", Verdict: "refused", Reason: reason, Input: loyalty.AsError(err).Args}}
}

// outcomeOf is the outcome of a run for its caller.
func outcomeOf(r *Run) loyalty.Outcome {
	o := loyalty.Outcome{Customer: *r.Customer, Trace: r.work.trace, Value: r.Value,
		Events: make([]loyalty.Event, len(r.work.events))}
	for i, e := range r.work.events {
		o.Events[i] = *e
	}
	return o
}

// touchedLots lists the lots that a run would change, for a preview, in the order in which they would be spent: a book
// has them in the database's order.
func touchedLots(r *Run, original *account) []loyalty.LotChange {
	before := map[loyalty.ID]int64{}
	for _, l := range original.lots {
		before[l.ID] = l.Remaining
	}

	var changes []loyalty.LotChange
	for _, l := range r.Book.Lots() {
		if was := before[l.ID]; was != l.Remaining {
			changes = append(changes, loyalty.LotChange{Lot: *l, Before: was})
		}
	}

	slices.SortFunc(changes, func(a, b loyalty.LotChange) int {
		return points.SpendingOrder(&a.Lot, &b.Lot, r.Book.LastActivity, r.Book.Zone)
	})
	return changes
}

// Try applies an effect to copies that are thrown away, and returns the points it would bring. The
// verdicts of its rules stay, for a preview.
func Try(r *Run, apply func(*Run) error) (gained int64, err error) {
	trial := newTrial(r)
	err = apply(trial)
	r.work.trace = append(r.work.trace, trial.work.trace...)
	return trial.Book.Figures.Score - r.Book.Figures.Score, err
}

// newTrial makes a run on copies of everything that this one works on.
func newTrial(r *Run) *Run {
	now := *r.account
	now.customer.Figures, now.lots = r.Book.Figures, r.Book.Lots()
	w := &work{claims: slices.Clone(r.work.claims), coupons: make(map[loyalty.ID]*loyalty.Coupon, len(r.work.coupons)),
		tallies: maps.Clone(r.work.tallies), tracing: r.work.tracing, unseen: r.work.unseen}
	for id, c := range r.work.coupons {
		w.coupons[id] = c.Clone()
	}

	t := r.batch.openRun(r.Programme, &now, w)
	t.At, t.Data, t.stored = r.At, r.Data, r.stored
	event := *r.Event
	if event.Effects != nil { // of an event that is dated earlier
		own := *event.Effects
		event.Effects = &own
	}

	t.Event = &event
	w.events = []*loyalty.Event{t.Event}
	return t
}

// Taking describes points that are taken back by a point_sub of their own.
type Taking struct {
	Lot         loyalty.ID // the event that opened their lot
	Points      int64
	Transaction string            // the purchase whose other lots come next; empty: none
	Giver       string            // the rule that gave them, for an error
	Reason      string            // sealed, because it may tell what another customer did
	Data        func(n int64) any // the attributes of the point_sub, for the points that it takes
}

// TakeLot takes points back from their own lot and from its expired points, then from other lots, and returns how many
// it took. The rest becomes debt, unless points_economy forbids a balance below zero; then it takes only the points
// that are there. The lot must have been loaded.
func TakeLot(r *Run, parent *loyalty.Event, t Taking) (int64, error) {
	n := t.Points
	if r.Programme.Economy.NegativeRefuse {
		n = min(n, r.Coverable(t.Lot))
	}
	if n == 0 {
		return 0, nil
	}

	personal := map[string]json.RawMessage{"reason": loyalty.JSON(t.Reason)}
	e, err := r.DeriveSealed(parent, "point_sub", t.Data(n), personal)
	if err != nil {
		return 0, err
	}
	if parent.Customer != r.Customer.ID {
		e.Transaction = "" // the purchase belongs to another customer
	}
	if err := r.Book.TakeBack(e.ID, t.Transaction, n, t.Lot); err != nil {
		return 0, TooMany(t.Giver)
	}

	e.Shown(-n)
	return n, nil
}

// RequireLots makes sure that lots were loaded, including those with only expired points left. Lots that are there need
// not be asked for, and lots that this batch opened cannot be: they have other ids each time it is decided.
func RequireLots(r *Run, lots []loyalty.ID) error {
	n := loyalty.CustomerNeeds{Lots: loyalty.UsedLots}
	n.Opened = slices.DeleteFunc(slices.Clone(lots), func(id loyalty.ID) bool { return r.Book.Lot(id) != nil })
	return r.Require(n)
}

// TellPurchase has the last event that recorded a purchase record its state again, after all present changes.
func TellPurchase(r *Run, e *loyalty.Event, t *loyalty.Transaction) {
	if r.Untold(t) {
		return
	}

	for _, o := range slices.Backward(r.Events()) {
		x := o.Effects
		if o.Customer != r.Customer.ID || x == nil {
			continue
		}
		if (x.Transaction != nil && o.Transaction == t.Name) ||
			slices.ContainsFunc(x.Purchases, func(p loyalty.TransactionEffect) bool { return p.Name == t.Name }) {
			e = o
			break
		}
	}

	r.TellLater(e, t)
}

// OpenRun returns the run of a customer that the submission touches; nil if it does not.
func OpenRun(r *Run, customer loyalty.ID) *Run { return r.work.run(customer) }
