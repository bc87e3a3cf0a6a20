package purchase

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// heldEvent finds a held event of the customer by its own id or by that of its pending
// event. It fails with ErrHeldNotFound, also for what was decided already: a purchase may have been by
// other means, and what is left of its waiting goes with its date.
func heldEvent(r *engine.Run, ref string) (key loyalty.ProgressKey, h HeldEvent, err error) {
	keys, err := r.ProgressOf(loyalty.ProgressHeld)
	if err != nil {
		return key, h, err
	}
	for _, id := range keys {
		h = HeldEvent{}
		if _, err := r.Progress(loyalty.ProgressHeld, id, &h); err != nil {
			return key, h, err
		}
		if !strings.EqualFold(id, ref) && !strings.EqualFold(h.Pending.String(), ref) {
			continue
		}
		if h.purchase() {
			if t, err := heldPurchase(r, &h); err != nil {
				return key, h, err
			} else if t == nil {
				break
			}
		}
		return loyalty.ProgressKey{Kind: loyalty.ProgressHeld, Key: id}, h, nil
	}
	return key, h, loyalty.ErrHeldNotFound.With("event", ref).At("data.event")
}

// ValidateHeld applies a held event now, in the name of the run's event: a purchase
// becomes accepted, anything else is decided by its own rule, with the attributes
// it came with. It fails with ErrHeldNotFound, and as the held event itself would: what is wrong with
// an attribute of that one is wrong with data.event, because the request has no such attribute.
func ValidateHeld(r *engine.Run, ref string) error {
	key, h, err := heldEvent(r, ref)
	if err != nil {
		return err
	}
	return ofHeld(validate(r, key, h))
}

// ofHeld puts what is wrong with attributes of a held event at the property that names the event.
func ofHeld(err error) error {
	var e *loyalty.Error
	if !errors.As(err, &e) || !slices.ContainsFunc(e.Details, ofData) {
		return err
	}
	c := *e
	c.Details = slices.Clone(e.Details)
	for i := range c.Details {
		if ofData(c.Details[i]) {
			c.Details[i].Field = "data.event"
		}
	}
	return &c
}

func ofData(d loyalty.Detail) bool { return strings.HasPrefix(d.Field, "data.") }

func validate(r *engine.Run, key loyalty.ProgressKey, h HeldEvent) error {
	// Decided first, applied second: what its rule sets off must not find it held.
	if err := r.SetProgress(r.Event, key, nil, time.Time{}); err != nil {
		return err
	}
	// reactions see the action that was held, and not that it was validated
	r.Event.Transaction, r.Event.As = h.Transaction, h.Action
	if h.purchase() {
		t, err := heldPurchase(r, &h)
		if err != nil {
			return err
		}
		return Accept(r, r.Event, t)
	}
	apply, err := unseal(r, key, &h)
	if err != nil {
		return err
	}
	r.Book.Withdraw(r.Event.ID, h.Points)
	// What it gives is decided by today's programme, and need not be what was promised
	// when it was held.
	before := r.Book.Figures.Score
	if err := apply(); err != nil {
		return err
	}
	return withhold(r, &h, r.Book.Figures.Score-before)
}

// unseal reads a held event's attributes and passes them through the gates of today.
// A held event may wait for years, and a declared attribute may be gone by then: it is
// refused now as a new event would be.
func unseal(r *engine.Run, key loyalty.ProgressKey, h *HeldEvent) (apply func() error, err error) {
	data := h.Data
	if h.Sealed != nil {
		id, err := uuid.Parse(key.Key)
		if err != nil {
			return nil, err
		}
		if err := r.Require(loyalty.CustomerNeeds{Key: true}); err != nil {
			return nil, err
		}
		if data, err = loyalty.Open(r.Customer.Key, id[:], h.Sealed); err != nil {
			return nil, err
		}
	}
	return engine.Resubmit(r, h.Action, data)
}

// withhold takes back what was dropped of the points while the event was held.
func withhold(r *engine.Run, h *HeldEvent, gained int64) error {
	n := min(h.Dropped, max(0, gained))
	if n == 0 {
		return nil
	}
	if err := r.Book.TakeBack(r.Event.ID, h.Transaction, n, r.Event.ID); err != nil {
		return tooManyPoints(r, err)
	}
	r.Event.Shown(loyalty.Deref(r.Event.Points) - n)
	return nil
}

// InvalidateHeld drops a held event: it never happens. A purchase is rejected. It
// fails with ErrHeldNotFound.
func InvalidateHeld(r *engine.Run, ref string) error {
	key, h, err := heldEvent(r, ref)
	if err != nil {
		return err
	}
	r.Event.Transaction = h.Transaction
	return drop(r, r.Event, key, &h)
}

// drop takes a held event back: a promise of points is withdrawn, a purchase is rejected, which
// gives back what it burned and used as well.
func drop(r *engine.Run, e *loyalty.Event, key loyalty.ProgressKey, h *HeldEvent) error {
	if err := r.SetProgress(e, key, nil, time.Time{}); err != nil {
		return err
	}
	if !h.purchase() {
		r.Book.Withdraw(e.ID, h.Points)
		return nil
	}
	t, err := heldPurchase(r, h)
	if err != nil || t == nil {
		return err
	}
	return Reject(r, e, t)
}

// heldPurchase finds the purchase of a held checkout; nil: it was settled by
// other means, after the modules had been changed.
func heldPurchase(r *engine.Run, h *HeldEvent) (*loyalty.Transaction, error) {
	if err := r.Require(purchases(h.Transaction)); err != nil {
		return nil, err
	}
	t := r.Purchases()[h.Transaction]
	if t == nil || t.State != loyalty.Pending {
		return nil, nil
	}
	return t, nil
}

func purchases(names ...string) loyalty.CustomerNeeds {
	return loyalty.CustomerNeeds{Lots: loyalty.HeldLots, Key: true, Transactions: names}
}

// heldTogether is how many held purchases are read at a time where one is decided after the other.
// Each that asked by itself would have all before it decided again.
const heldTogether = 250

// withLater reads the purchase of a held event together with those that were held after it.
func withLater(r *engine.Run, event string, h *HeldEvent) error {
	if !h.purchase() || r.Require(purchases(h.Transaction)) == nil {
		return nil
	}
	keys, err := r.ProgressOf(loyalty.ProgressHeld) // ids, so by age
	if err != nil {
		return err
	}
	names := []string{h.Transaction}
	for _, key := range keys {
		if key <= event || len(names) == heldTogether {
			continue
		}
		var later HeldEvent
		if _, err := r.Progress(loyalty.ProgressHeld, key, &later); err != nil {
			return err
		}
		if later.purchase() {
			names = append(names, later.Transaction)
		}
	}
	return r.Require(purchases(names...))
}

// ExpirePending drops pending points of held events, the oldest first. An event
// whose points are all dropped is dropped itself; of the last one a part can stay.
// More than held events promise fails with ErrPendingTooMuch.
func ExpirePending(r *engine.Run, n int64) error {
	keys, err := r.ProgressOf(loyalty.ProgressHeld) // ids, so by age
	if err != nil {
		return err
	}
	all := make([]HeldEvent, len(keys))
	var pending int64
	for i, key := range keys {
		if _, err := r.Progress(loyalty.ProgressHeld, key, &all[i]); err != nil {
			return err
		}
		if err := withLater(r, key, &all[i]); err != nil {
			return err
		}
		if all[i].purchase() {
			switch t, err := heldPurchase(r, &all[i]); {
			case err != nil:
				return err
			case t == nil: // it was settled by other means, and promises nothing any more
				all[i].Points = 0
			}
		}
		pending += all[i].Points
	}
	// All or nothing: a caller who counts on points that are not there is told, before one
	// event is dropped.
	if n > pending {
		return loyalty.ErrPendingTooMuch.With("pending", pending).At("data.points")
	}
	for i := range all {
		h, key := &all[i], loyalty.ProgressKey{Kind: loyalty.ProgressHeld, Key: keys[i]}
		switch k := min(n, h.Points); k {
		case 0:
			continue
		case h.Points:
			err = drop(r, r.Event, key, h)
			n -= k
		default:
			err = shrink(r, key, h, k)
			n = 0
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shrink drops a part of what a held event promises.
func shrink(r *engine.Run, key loyalty.ProgressKey, h *HeldEvent, n int64) error {
	r.Book.Withdraw(r.Event.ID, n)
	// kept, so that what the event gives when it is validated is less by as much
	h.Points, h.Dropped = h.Points-n, h.Dropped+n
	if h.purchase() {
		t, err := heldPurchase(r, h)
		if err != nil {
			return err
		}
		if t != nil {
			t.Reduce(n)
			r.Changed(r.Event, t)
		}
	}
	return r.SetProgress(r.Event, key, h, r.ProgressRow(key).DueAt)
}

// expireHeld writes the pending_expired of a held event whose time has come.
func expireHeld(r *engine.Run, p *loyalty.Progress) error {
	var h HeldEvent
	if err := json.Unmarshal(p.Data, &h); err != nil {
		return fmt.Errorf("held event %s: %w", p.Key, err)
	}
	if err := withLater(r, p.Key, &h); err != nil {
		return err
	}
	e := r.Append("pending_expired", p.DueAt)
	e.Data, e.Transaction = loyalty.JSON(heldAttributes{p.Key, h.Points}), h.Transaction
	return drop(r, e, p.ProgressKey, &h)
}
