package purchase

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// ClaimGuest moves a guest's purchase to this customer. Its row changes hands. Each of its lots is taken from the guest
// and given to the claimer with the same dates, on a point_add row of its own; pending points move along. It fails with
// ErrTransactionNotFound if the purchase does not exist or its customer is not a guest.
func ClaimGuest(r *engine.Run, name string) error {
	unknown := loyalty.ErrTransactionNotFound.At("data.transaction_id")
	owner, taken := r.Owner(loyalty.Name{Kind: loyalty.NameTransaction, Value: name})
	switch {
	// one answer whether the purchase is unknown, the customer's own or another member's: ids of others must not be
	// found out
	case !taken || owner == r.Customer.ID:
		return unknown
	case engine.TouchedBefore(r, owner):
		return loyalty.ErrBatchConflict // the row is not stored as it was loaded
	}

	guest, err := r.Other(loyalty.CustomerNeeds{
		ID: owner, Key: true, Lots: loyalty.UsedLots, Transactions: []string{name},
		Progress: loyalty.Kinds(loyalty.ProgressHeld, loyalty.ProgressOffer),
	})
	if err != nil {
		return err
	}

	t := guest.Purchases()[name]
	if guest == r || guest.Customer.Status != loyalty.Inactive || t == nil || t.Customer != guest.Customer.ID {
		return unknown
	}

	// a copy: the guard of the write compares with the guest's row
	moved := t.Clone()
	// before the lots move: every posting is booked on an event of its own customer
	gone := guest.Derive(r.Event, "point_sub", nil)
	if err := moveLots(r, guest, gone, moved); err != nil {
		return err
	}
	if err := movePromise(r, guest, gone, moved); err != nil {
		return err
	}

	return engine.TakePurchase(r, guest, moved)
}

// moveLots moves what the purchase earned, lot by lot.
func moveLots(r *engine.Run, guest *engine.Run, gone *loyalty.Event, t *loyalty.Transaction) error {
	var total int64
	lots := map[loyalty.ID]loyalty.ID{} // the claimer's lots, by the guest's
	for _, l := range guest.Book.Lots() {
		// a lot that was taken back as a whole has nothing to move, not even its spent points
		if l.Transaction != t.Name || l.Gone() == l.Points {
			continue
		}

		// the whole lot moves, with what was spent of it, so that a refund finds it with the claimer
		was := guest.Book.Part(gone.ID, l)
		come := derivePoints(r, r.Event, "point_add", t.Name, was.Remaining)
		come.Shown(was.Remaining)
		come.ExpDate = was.ExpiresAt
		if !was.Idle.IsZero() {
			come.ExpDate = was.Idle.From(r.Now, r.Programme.Location)
		}

		come.OpensLot(was)
		come.KeepsOrigin(was.Origin)
		total += was.Remaining
		lots[was.ID] = come.ID
		was.ID = points.ID(come.ID)
		if err := r.Book.Receive(come.ID, was); err != nil {
			return tooManyPoints(r, err)
		}
	}

	gone.Data = loyalty.JSON(purchasePoints{TransactionID: t.Name, Points: total})
	gone.Transaction = t.Name
	// no purchase of the guest's any more, so that a tier by spend no longer counts it
	gone.Tell().Transaction = &loyalty.TransactionEffect{}
	gone.Shown(-total)
	r.Event.Shown(total)
	return rebind(r, guest, t, lots)
}

// rebind seals the purchase under the claimer's key, and gives its lines the lots that they have now.
func rebind(r *engine.Run, guest *engine.Run, t *loyalty.Transaction, lots map[loyalty.ID]loyalty.ID) (err error) {
	from, to := guest.Customer.Key, r.Customer.Key
	if t.Detail.Personal, err = loyalty.Reseal(from, to, t.Detail.Personal, t.Checkout, t.Checkout); err != nil {
		return err
	}

	for i := range t.Detail.Items {
		l := &t.Detail.Items[i]
		// a line that earned nothing has no lot and keeps its event
		now, has := lots[l.Event]
		if !has {
			now = l.Event
		}
		if l.Personal, err = loyalty.Reseal(from, to, l.Personal, l.Event, now); err != nil {
			return err
		}
		l.Event, l.Changed = now, true
	}

	return nil
}

// movePromise moves the pending points of a purchase, and what any purchase used.
func movePromise(r *engine.Run, guest *engine.Run, gone *loyalty.Event, t *loyalty.Transaction) error {
	// only a pending purchase has pending points; of the others the lots have moved
	if t.State == loyalty.Pending {
		guest.Book.Withdraw(gone.ID, t.Earned)
		if err := Promise(r, r.Event, t.Earned); err != nil {
			return err
		}
	}
	return engine.Claimed(r, guest, gone, t)
}
