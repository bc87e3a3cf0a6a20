package loyalty

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

// heldEvent finds a held event of the customer by its own id or by that of its pending
// event. It fails with ErrHeldNotFound, also for what was decided already.
func (r *Run) heldEvent(ref string) (key ProgressKey, h HeldEvent, err error) {
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
	key, h, err := r.heldEvent(ref)
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
	needs, apply, err := r.unseal(key, &h)
	if err != nil {
		return err
	}
	if err := r.require(needs); err != nil {
		return err
	}
	r.Book.Withdraw(r.Event.ID, h.Points)
	before := r.Book.Figures.Score
	if err := apply(); err != nil {
		return err
	}
	return r.withhold(&h, r.Book.Figures.Score-before)
}

// unseal reads a held event's attributes and passes them through the gates of today.
func (r *Run) unseal(key ProgressKey, h *HeldEvent) (needs CustomerNeeds, apply func() error, err error) {
	data := h.Data
	if h.Sealed != nil {
		id, err := uuid.Parse(key.Key)
		if err != nil {
			return needs, nil, err
		}
		if err := r.require(CustomerNeeds{Key: true}); err != nil {
			return needs, nil, err
		}
		if data, err = Open(r.Customer.Key, id[:], h.Sealed); err != nil {
			return needs, nil, err
		}
	}
	return r.Resubmit(h.Action, data)
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
	key, h, err := r.heldEvent(ref)
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
	t := r.Purchases()[h.Transaction]
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
		if all[i].purchase() {
			switch t, err := r.heldPurchase(&all[i]); {
			case err != nil:
				return err
			case t == nil: // it was settled by other means, and promises nothing any more
				all[i].Points = 0
			}
		}
		pending += all[i].Points
	}
	if n > pending {
		return ErrPendingTooMuch.With("pending", pending).At("data.points")
	}
	for i := range all {
		h, key := &all[i], ProgressKey{ProgressHeld, keys[i]}
		switch k := min(n, h.Points); k {
		case 0:
			continue
		case h.Points:
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
	return r.SetProgress(r.Event, key, h, r.ProgressRow(key).DueAt)
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
		l := &t.Detail.Items[i]
		k := min(n, l.Points)
		l.Points, l.changed = l.Points-k, true
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
	e.Data, e.Transaction = marshal(heldAttributes{p.Key, h.Points}), h.Transaction
	return r.drop(e, p.ProgressKey, &h)
}
