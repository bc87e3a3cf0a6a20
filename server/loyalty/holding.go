package loyalty

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Holding is the configuration of pending_events: which actions wait for their
// validation, and for how long.
type Holding struct {
	Actions []string `json:"actions"`
	Days    int      `json:"days"` // then they are dropped; 0: never
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
	o.count("days", &c.Days, 0, maxPending)
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
		known := slices.Contains(submittable, action) || (p.Actions[action] != nil && !internal)
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
	var expires time.Time
	if days := r.Programme.Holding.Days; days > 0 {
		expires = r.Now.AddDate(0, 0, days)
	}
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
	t.Event = &event
	w.events = []*Event{t.Event}
	return t
}

// held finds a held event of the customer by its own id or by that of its pending
// event. It fails with ErrHeldNotFound, also for what was decided already.
func (r *Run) held(ref string) (key ProgressKey, h HeldEvent, err error) {
	keys, err := r.ProgressOf(ProgressHeld)
	if err != nil {
		return key, h, err
	}
	for _, id := range keys {
		h = HeldEvent{}
		if _, err := r.Progress(ProgressHeld, id, &h); err != nil {
			return key, h, err
		}
		if strings.EqualFold(id, ref) || strings.EqualFold(h.Pending.String(), ref) {
			return ProgressKey{ProgressHeld, id}, h, nil
		}
	}
	return key, h, ErrHeldNotFound.With("event", ref).At("data.event")
}

// ValidateHeld applies a held event now, in the name of the run's event: a purchase
// becomes accepted, anything else is decided by its own rule, with the attributes
// it came with. It fails with ErrHeldNotFound, and as the held event itself would.
func (r *Run) ValidateHeld(ref string) error {
	key, h, err := r.held(ref)
	if err != nil {
		return err
	}
	if err := r.SetProgress(r.Event, key, nil, time.Time{}); err != nil {
		return err
	}
	r.Event.Transaction, r.Event.as = h.Transaction, h.Action
	if h.purchase() {
		t, err := r.heldPurchase(&h)
		if err != nil || t == nil {
			return err
		}
		return r.Accept(r.Event, t)
	}
	t, err := r.unseal(key, &h)
	if err != nil {
		return err
	}
	if err := r.require(t.bound.needs); err != nil {
		return err
	}
	r.Book.Withdraw(r.Event.ID, h.Points)
	before := r.Book.Figures.Score
	r.Data, r.stored = t.data, &t.stored
	if err := t.bound.apply(r); err != nil {
		return err
	}
	return r.withhold(&h, r.Book.Figures.Score-before)
}

// unseal makes the held event's ticket again and passes it through the gates of
// today: its module may be off by now, and the customer suspended.
func (r *Run) unseal(key ProgressKey, h *HeldEvent) (*ticket, error) {
	data := h.Data
	if h.Sealed != nil {
		id, err := uuid.Parse(key.Key)
		if err != nil {
			return nil, err
		}
		if err := r.require(CustomerNeeds{Key: true}); err != nil {
			return nil, err
		}
		if data, err = Open(r.Customer.Key, id[:], h.Sealed); err != nil {
			return nil, err
		}
	}
	t := &ticket{sub: Submission{Action: h.Action, Data: data}, programme: r.Programme}
	if err := t.check(r.batch.engine); err != nil {
		return nil, err
	}
	return t, r.standing(t)
}

// withhold takes back what was dropped of the points while the event was held.
func (r *Run) withhold(h *HeldEvent, gained int64) error {
	n := min(h.Dropped, max(0, gained))
	if n == 0 {
		return nil
	}
	if err := r.Book.TakeBack(r.Event.ID, h.Transaction, r.Event.ID, n); err != nil {
		return tooManyPoints(err)
	}
	r.Event.Shown(deref(r.Event.Points) - n)
	return nil
}

// InvalidateHeld drops a held event: it never happens. A purchase is rejected. It
// fails with ErrHeldNotFound.
func (r *Run) InvalidateHeld(ref string) error {
	key, h, err := r.held(ref)
	if err != nil {
		return err
	}
	r.Event.Transaction = h.Transaction
	return r.drop(r.Event, key, &h)
}

func (r *Run) drop(e *Event, key ProgressKey, h *HeldEvent) error {
	if err := r.SetProgress(e, key, nil, time.Time{}); err != nil {
		return err
	}
	if !h.purchase() {
		r.Book.Withdraw(e.ID, h.Points)
		return nil
	}
	t, err := r.heldPurchase(h)
	if err != nil || t == nil {
		return err
	}
	return r.Reject(e, t)
}

// heldPurchase finds the purchase of a held checkout; nil: it was settled by
// other means, after the modules had been changed.
func (r *Run) heldPurchase(h *HeldEvent) (*Transaction, error) {
	needs := CustomerNeeds{Lots: HeldLots, Key: true, Transactions: []string{h.Transaction}}
	if err := r.require(needs); err != nil {
		return nil, err
	}
	t := r.account.transactions[h.Transaction]
	if t == nil || t.State != Pending {
		return nil, nil
	}
	return t, nil
}

// ExpirePending drops pending points of held events, the oldest first. An event
// whose points are all dropped is dropped itself; of the last one a part can stay.
// More than held events promise fails with ErrPendingTooMuch.
func (r *Run) ExpirePending(n int64) error {
	keys, err := r.ProgressOf(ProgressHeld) // ids, so by age
	if err != nil {
		return err
	}
	all := make([]HeldEvent, len(keys))
	var pending int64
	for i, key := range keys {
		if _, err := r.Progress(ProgressHeld, key, &all[i]); err != nil {
			return err
		}
		pending += all[i].Points
	}
	if n > pending {
		return ErrPendingTooMuch.With("pending", pending).At("data.points")
	}
	for i := range all {
		h, key := &all[i], ProgressKey{ProgressHeld, keys[i]}
		switch k := min(n, h.Points); {
		case k == 0:
			continue
		case k == h.Points:
			err = r.drop(r.Event, key, h)
			n -= k
		default:
			err = r.shrink(key, h, k)
			n = 0
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shrink drops a part of what a held event promises.
func (r *Run) shrink(key ProgressKey, h *HeldEvent, n int64) error {
	r.Book.Withdraw(r.Event.ID, n)
	h.Points, h.Dropped = h.Points-n, h.Dropped+n
	if h.purchase() {
		t, err := r.heldPurchase(h)
		if err != nil {
			return err
		}
		if t != nil {
			t.reduce(n)
			r.Changed(r.Event, t)
		}
	}
	return r.SetProgress(r.Event, key, h, r.account.progress[key].DueAt)
}

// reduce takes points off what a pending purchase promises: from those that hang
// on no line first, then from its lines.
func (t *Transaction) reduce(n int64) {
	lines := int64(0)
	for _, l := range t.Detail.Items {
		lines += l.Points
	}
	n, t.Earned = n-min(n, t.Earned-lines), t.Earned-n
	for i := range t.Detail.Items {
		k := min(n, t.Detail.Items[i].Points)
		t.Detail.Items[i].Points -= k
		n -= k
	}
}

// expireHeld writes the pending_expired of a held event whose time has come.
func expireHeld(r *Run, p *Progress) error {
	var h HeldEvent
	if err := json.Unmarshal(p.Data, &h); err != nil {
		return fmt.Errorf("held event %s: %w", p.Key, err)
	}
	e := r.add("pending_expired", p.DueAt)
	e.Data, e.Transaction = marshal(heldEvent{p.Key, h.Points}), h.Transaction
	return r.drop(e, p.ProgressKey, &h)
}

func init() { dueProgress[ProgressHeld] = expireHeld }
