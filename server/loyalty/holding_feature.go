package loyalty

import (
	"encoding/json"

	"github.com/google/uuid"
)

// PurchaseFeature decides purchases when their dates come.
var PurchaseFeature = Feature{Name: "purchases", Decide: acceptOnTime}

// PendingFeature is the module pending_events: events that wait for their validation.
var PendingFeature = Feature{
	Name: "pending_events", Progress: ProgressHeld, Due: expireHeld, Receive: receiveHeld, Claimed: moveHeld, Hold: hold, Held: holdsPurchase,
}

// acceptOnTime writes the checkout_accept or checkout_reject of a date that has
// come. It takes effect at that date, also after downtime.
func acceptOnTime(r *Run, t *Transaction) error {
	action := "checkout_accept"
	if t.AutoReject {
		action = "checkout_reject"
	}
	e := r.add(action, t.AutoAccept)
	e.Transaction = t.Name
	e.Data = marshal(map[string]string{"transaction_id": t.Name})
	if t.AutoReject {
		return r.Reject(e, t)
	}
	return r.Accept(e, t)
}

// holdsPurchase says whether a purchase waits as a held event.
func holdsPurchase(r *Run, transaction string) (bool, error) {
	keys, err := r.ProgressOf(ProgressHeld)
	if err != nil {
		return false, err
	}
	for _, key := range keys {
		var h HeldEvent
		if _, err := r.Progress(ProgressHeld, key, &h); err != nil {
			return false, err
		}
		if h.purchase() && h.Transaction == transaction {
			return true, nil
		}
	}
	return false, nil
}

// receiveHeld is a held event as the target of a merge may have it: what it sealed is
// sealed under the target's key from now on.
func receiveHeld(r, source *Run, key ProgressKey, data json.RawMessage) (json.RawMessage, error) {
	var h HeldEvent
	if err := json.Unmarshal(data, &h); err != nil {
		return nil, err
	}
	id, err := uuid.Parse(key.Key)
	if err != nil {
		return nil, err
	}
	if h.Sealed, err = reseal(source.Customer.Key, r.Customer.Key, h.Sealed, id, id); err != nil {
		return nil, err
	}
	return marshal(h), nil
}

// moveHeld moves the place of a guest's purchase among the held events.
func moveHeld(r, guest *Run, gone *Event, t *Transaction) error {
	keys, err := guest.ProgressOf(ProgressHeld)
	if err != nil {
		return err
	}
	for _, id := range keys {
		var h HeldEvent
		if _, err := guest.Progress(ProgressHeld, id, &h); err != nil {
			return err
		}
		if !h.purchase() || h.Transaction != t.Name {
			continue
		}
		key := ProgressKey{ProgressHeld, id}
		due := guest.ProgressRow(key).DueAt
		if err := guest.SetProgress(gone, key, nil, due); err != nil {
			return err
		}
		return r.SetProgress(r.Event, key, h, due)
	}
	return nil
}
