package purchase

import (
	"encoding/json"

	"github.com/google/uuid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// PurchaseFeature decides purchases when their dates come.
var PurchaseFeature = engine.Feature{Name: "purchases", Decide: acceptOnTime}

// PendingFeature is the module pending_events: events that wait for their validation.
var PendingFeature = engine.Feature{
	Name: "pending_events", Progress: loyalty.ProgressHeld, Due: expireHeld, Receive: receiveHeld, Claimed: moveHeld,
	Hold: hold, Held: holdsPurchase,
}

// acceptOnTime writes the checkout_accept or checkout_reject that is due. It takes effect at its due date instead of
// the time of writing, so that downtime does not change what a purchase earns.
func acceptOnTime(r *engine.Run, t *loyalty.Transaction) error {
	action := "checkout_accept"
	// by the purchase's own setting: the programme may have changed since
	if t.AutoReject {
		action = "checkout_reject"
	}
	e := r.Append(action, t.AutoAccept)
	e.Transaction = t.Name
	e.Data = loyalty.JSON(map[string]string{"transaction_id": t.Name})
	if t.AutoReject {
		return Reject(r, e, t)
	}
	return Accept(r, e, t)
}

// holdsPurchase reports whether a purchase is among the held events.
func holdsPurchase(r *engine.Run, transaction string) (bool, error) {
	keys, err := r.ProgressOf(loyalty.ProgressHeld)
	if err != nil {
		return false, err
	}

	for _, key := range keys {
		var h HeldEvent
		if _, err := r.Progress(loyalty.ProgressHeld, key, &h); err != nil {
			return false, err
		}
		if h.purchase() && h.Transaction == transaction {
			return true, nil
		}
	}

	return false, nil
}

// receiveHeld converts a held event for the target of a merge: what it sealed is sealed under the target's key from now
// on.
func receiveHeld(r, source *engine.Run, key loyalty.ProgressKey, data json.RawMessage) (json.RawMessage, error) {
	var h HeldEvent
	if err := json.Unmarshal(data, &h); err != nil {
		return nil, err
	}
	id, err := uuid.Parse(key.Key)
	if err != nil {
		return nil, err
	}
	// otherwise it could not be opened once the source's key is destroyed
	if h.Sealed, err = loyalty.Reseal(source.Customer.Key, r.Customer.Key, h.Sealed, id, id); err != nil {
		return nil, err
	}
	return loyalty.JSON(h), nil
}

// moveHeld moves the held event of a guest's purchase.
func moveHeld(r, guest *engine.Run, gone *loyalty.Event, t *loyalty.Transaction) error {
	keys, err := guest.ProgressOf(loyalty.ProgressHeld)
	if err != nil {
		return err
	}

	for _, id := range keys {
		var h HeldEvent
		if _, err := guest.Progress(loyalty.ProgressHeld, id, &h); err != nil {
			return err
		}
		if !h.purchase() || h.Transaction != t.Name {
			continue
		}

		key := loyalty.ProgressKey{Kind: loyalty.ProgressHeld, Key: id}
		// claiming does not prolong the wait
		due := guest.ProgressRow(key).DueAt
		if err := guest.SetProgress(gone, key, nil, due); err != nil {
			return err
		}

		return r.SetProgress(r.Event, key, h, due)
	}

	return nil
}
