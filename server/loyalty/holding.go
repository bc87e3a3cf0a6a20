package loyalty

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Holding is the configuration of pending_events: which actions wait for their
// validation, and for how long.
type Holding struct {
	Actions []string `json:"actions"`
	Days    int      `json:"days"` // then they are dropped; 0: at once
}

// unholdable are the submittable actions that cannot wait: those that create a
// customer or change their state, those that speak of another customer, who would
// have to be held as well, and those that settle what waits.
var unholdable = strings.Fields(`checkout_accept checkout_reject checkout_update coupon_transfer opt_in opt_out
	pending_expired pending_invalidate pending_validate profile reward_transfer subscribe suspend unsuspend`)

func readHolding(raw json.RawMessage) (any, error) {
	c := Holding{Actions: []string{}, Days: 14}
	o := openObject(raw, "config")
	o.take("actions", "array of strings", &c.Actions)
	for i, action := range c.Actions {
		if slices.Contains(c.Actions[:i], action) {
			o.fail("actions", "not_unique", nil)
		}
	}
	o.count("days", &c.Days, 0, maxHeld)
	return c, o.done()
}

func (c Holding) compile(p *Programme) { p.Holding = c }

// holds says whether an action waits for its validation.
func (p *Programme) holds(action string) bool { return slices.Contains(p.Holding.Actions, action) }

// checkHolding makes sure that the actions to hold are submittable ones that can
// wait, or ones that the programme declares. It fails with ErrNotHoldable.
func (p *Programme) checkHolding() error {
	for i, action := range p.Holding.Actions {
		_, internal := internalActions[action]
		known := p.registry.actions[action] || (p.Actions[action] != nil && !internal)
		if !known || slices.Contains(unholdable, action) {
			return ErrNotHoldable.With("action", action).At(fmt.Sprintf("config.actions[%d]", i))
		}
	}
	return nil
}

// HeldEvent is an event that waits for its validation: progress of the kind
// ProgressHeld, by the id of the event.
type HeldEvent struct {
	Action string `json:"action"`
	// Data are its attributes; where some of them are personal, all of them are
	// sealed instead, bound to the event's id.
	Data        json.RawMessage `json:"data,omitempty"`
	Sealed      []byte          `json:"sealed,omitempty"`
	Transaction string          `json:"transaction,omitempty"`
	Points      int64           `json:"points"`            // promised, and not dropped yet
	Dropped     int64           `json:"dropped,omitempty"` // by pending_expired
	Pending     ID              `json:"pending"`           // the event that records the holding
}

// purchase says that what waits is a purchase, whose row tells everything.
func (h *HeldEvent) purchase() bool { return h.Action == "checkout" }

// Pends says whether a purchase of this run waits to be accepted.
func (r *Run) Pends() bool { return r.holding || r.Programme.On[ModuleCheckoutAccept] }

// hold records the run's event without its effect. What would be refused now is
// refused; the points it would bring are promised. A purchase is priced, and what
// it burns is held, as with checkout_accept.
func (r *Run) hold(t *ticket) error {
	r.Event.held = true
	h := HeldEvent{Action: r.Event.Action, Transaction: t.transaction}
	if err := r.weigh(t, &h); err != nil {
		return err
	}
	pending := r.Derive(r.Event, "pending", heldEvent{r.Event.ID.String(), 0})
	pending.Shown(h.Points)
	if !h.purchase() {
		if err := r.Promise(pending, h.Points); err != nil {
			return err
		}
		var err error
		if t.stored.personal == nil {
			h.Data = t.sub.Data
		} else if h.Sealed, err = Seal(r.Customer.Key, r.Event.ID[:], t.sub.Data); err != nil {
			return err
		}
	}
	h.Pending = pending.ID
	expires := r.Now.AddDate(0, 0, r.Programme.Holding.Days)
	r.Trace("pending_events", "applied", "reason.held", h.Points)
	return r.SetProgress(pending, heldKey(r.Event.ID), h, expires)
}

// heldEvent are the attributes of the events of a held one.
type heldEvent struct {
	Event  string `json:"event"`
	Points int64  `json:"points,omitempty"`
}

func heldKey(id ID) ProgressKey { return ProgressKey{ProgressHeld, id.String()} }

// weigh finds out what the event would bring. A purchase is made, as a pending
// one; anything else is tried on copies that are thrown away.
func (r *Run) weigh(t *ticket, h *HeldEvent) error {
	if h.purchase() {
		r.holding = true
		err := t.bound.apply(r)
		r.holding = false
		if bought, ok := r.account.transactions[h.Transaction]; ok && err == nil {
			h.Points = bought.Earned
		}
		return err
	}
	trial := r.trial()
	err := t.bound.apply(trial)
	r.work.trace = append(r.work.trace, trial.work.trace...) // what its rules say, for a preview
	if err != nil {
		return err
	}
	h.Points = max(0, trial.Book.Figures.Score-r.Book.Figures.Score)
	return nil
}

// trial is a run on copies of all that this one works on.
func (r *Run) trial() *Run {
	now := *r.account
	now.customer.Figures, now.lots = r.Book.Figures, r.Book.Lots()
	w := &work{claims: slices.Clone(r.work.claims), coupons: make(map[string]*Coupon, len(r.work.coupons)), tallies: maps.Clone(r.work.tallies), tracing: r.work.tracing}
	for code, c := range r.work.coupons {
		w.coupons[code] = c.clone()
	}
	t := r.batch.openRun(r.Programme, &now, w)
	t.At, t.Data, t.stored = r.At, r.Data, r.stored
	event := *r.Event
	if event.Effects != nil { // of an event that is dated earlier
		own := *event.Effects
		event.Effects = &own
	}
	t.Event = &event
	w.events = []*Event{t.Event}
	return t
}
