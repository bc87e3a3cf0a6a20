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

// heldEvent finds a held event of the customer by its own id or by that of its pending event. It fails with
// ErrHeldNotFound, also for a held event that was decided already: a purchase may have been decided by other means, and
// the leftover of its wait is removed at its date.
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

// ValidateHeld applies a held event now, on the run's event: a purchase becomes accepted, any other event is decided by
// its own rule, with its original attributes. It fails with ErrHeldNotFound, and as the held event itself would. An
// error about an attribute of the held event is reported at data.event, because the request has no such attribute.
func ValidateHeld(r *engine.Run, ref string) error {
	key, h, err := heldEvent(r, ref)
	if err != nil {
		return err
	}
	return ofHeld(validate(r, key, h))
}

// ofHeld moves errors about attributes of a held event to the property that names the event.
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
	// Removed before it is applied, so that reactions to it do not find it held.
	if err := r.SetProgress(r.Event, key, nil, time.Time{}); err != nil {
		return err
	}

	// reactions see the held action, not the validation
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
	// Today's programme decides what it gives, which may differ from the pending points.
	before := r.Book.Figures.Score
	if err := apply(); err != nil {
		return err
	}

	return withhold(r, &h, r.Book.Figures.Score-before)
}

// unseal reads a held event's attributes and passes them through today's gates. A held event may wait for years, and a
// declared attribute may be gone by then: the event is refused now as a new one would be.
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

// withhold takes back the points that were dropped while the event was held.
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

// InvalidateHeld drops a held event, which then never happens. A purchase is rejected. It fails with ErrHeldNotFound.
func InvalidateHeld(r *engine.Run, ref string) error {
	key, h, err := heldEvent(r, ref)
	if err != nil {
		return err
	}
	r.Event.Transaction = h.Transaction
	return drop(r, r.Event, key, &h)
}

// drop takes a held event back: pending points are withdrawn, and a purchase is rejected, which also gives back what it
// burned and used.
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

// heldPurchase finds the purchase of a held checkout; nil: it was settled by other means, after the modules had been
// changed.
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

// heldTogether is how many held purchases are read at a time if they are decided one after the other. Reading one at a
// time would have all earlier ones decided again.
const heldTogether = 250

// withLater reads the purchase of a held event together with those that were held after it.
func withLater(r *engine.Run, event string, h *HeldEvent) error {
	if !h.purchase() || r.Require(purchases(h.Transaction)) == nil {
		return nil
	}

	keys, err := r.ProgressOf(loyalty.ProgressHeld) // ids, so in order of age
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

// ExpirePending drops pending points of held events, the oldest first. An event whose points are all dropped is dropped
// itself; the last one may keep a part. If n exceeds all pending points it fails with ErrPendingTooMuch.
func ExpirePending(r *engine.Run, n int64) error {
	keys, err := r.ProgressOf(loyalty.ProgressHeld) // ids, so in order of age
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
			case t == nil: // settled by other means, so no points of it are pending
				all[i].Points = 0
			}
		}

		pending += all[i].Points
	}

	// All or nothing: a caller that counts on points that are not there is told before any event is dropped.
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

// shrink drops a part of the pending points of a held event.
func shrink(r *engine.Run, key loyalty.ProgressKey, h *HeldEvent, n int64) error {
	r.Book.Withdraw(r.Event.ID, n)
	// recorded, so that the event gives less by as much when it is validated
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
