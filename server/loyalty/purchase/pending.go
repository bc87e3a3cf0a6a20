package purchase

import (
	"encoding/json"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// HeldEvent is an event that waits for validation. It is stored as progress of the kind ProgressHeld under the event's
// id.
type HeldEvent struct {
	Action string `json:"action"`
	// Data are its attributes. If some of them are personal, all are sealed instead, bound to the event's id.
	Data        json.RawMessage `json:"data,omitempty"`
	Sealed      []byte          `json:"sealed,omitempty"`
	Transaction string          `json:"transaction,omitempty"`
	Points      int64           `json:"points"`            // pending, less those dropped
	Dropped     int64           `json:"dropped,omitempty"` // by pending_expired
	Pending     loyalty.ID      `json:"pending"`           // the event that records the holding
}

// purchase reports whether a purchase waits; its row has all further data.
func (h *HeldEvent) purchase() bool { return h.Action == "checkout" }

// Pends reports whether a purchase of this run has to be accepted before it earns.
func Pends(r *engine.Run) bool { return r.Holding || r.Programme.On[programme.ModuleCheckoutAccept] }

// hold records the run's event without applying it. It refuses an event that would be refused now, because such an
// event could not be validated later either. The points that the event would earn become pending. A purchase is priced
// and its burned points are reserved, as with checkout_accept.
func hold(r *engine.Run, t engine.Submitted) error {
	r.Event.Held = true
	h := HeldEvent{Action: r.Event.Action, Transaction: t.Transaction}
	if err := promised(r, t, &h); err != nil {
		return err
	}

	pending := r.Derive(r.Event, "pending", heldAttributes{r.Event.ID.String(), 0})
	pending.Shown(h.Points)
	if !h.purchase() {
		if err := Promise(r, pending, h.Points); err != nil {
			return err
		}
		var err error
		if !t.Personal {
			h.Data = t.Data
		} else if h.Sealed, err = loyalty.Seal(r.Customer.Key, r.Event.ID[:], t.Data); err != nil {
			return err
		}
	}

	h.Pending = pending.ID
	expires := r.Now.AddDate(0, 0, r.Programme.Holding.Days)
	r.Trace("pending_events", "applied", "reason.held", h.Points)
	return r.SetProgress(pending, heldKey(r.Event.ID), h, expires)
}

// heldAttributes are the attributes of the events about a held one.
type heldAttributes struct {
	Event  string `json:"event"`
	Points int64  `json:"points,omitempty"`
}

func heldKey(id loyalty.ID) loyalty.ProgressKey {
	return loyalty.ProgressKey{Kind: loyalty.ProgressHeld, Key: id.String()}
}

// promised computes what the event would earn. A purchase is recorded as a pending one; any other event is tried on
// copies that are thrown away.
func promised(r *engine.Run, t engine.Submitted, h *HeldEvent) error {
	if h.purchase() {
		r.Holding = true
		err := t.Apply(r)
		r.Holding = false
		if bought, ok := r.Purchases()[h.Transaction]; ok && err == nil {
			h.Points = bought.Earned
		}
		return err
	}
	gained, err := engine.Try(r, t.Apply)
	h.Points = max(0, gained)
	return err
}
