package purchase

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// ClaimGuest makes a guest's purchase this customer's. Its row changes hands;
// each of its lots leaves the guest as it is and comes to the claimer with its
// dates, on a point_add row of its own; what it promises goes along. It fails with
// ErrTransactionNotFound where it does not exist, or its customer is no guest.
func ClaimGuest(r *engine.Run, name string) error {
	unknown := loyalty.ErrTransactionNotFound.At("data.transaction_id")
	owner, taken := r.Owner(loyalty.Name{Kind: loyalty.NameTransaction, Value: name})
	switch {
	// one answer for what is unknown, their own or another member's: ids of others must not be found out
	case !taken || owner == r.Customer.ID:
		return unknown
	case engine.TouchedBefore(r, owner):
		return loyalty.ErrBatchConflict // the row is not stored as it was loaded
	}
	guest, err := r.Other(loyalty.CustomerNeeds{
		ID: owner, Key: true, Lots: loyalty.UsedLots, Transactions: []string{name}, Progress: loyalty.Kinds(loyalty.ProgressHeld, loyalty.ProgressOffer),
	})
	if err != nil {
		return err
	}
	t := guest.Purchases()[name]
	if guest == r || guest.Customer.Status != loyalty.Inactive || t == nil || t.Customer != guest.Customer.ID {
		return unknown
	}
	// a copy: the guest's row is what the guard of the write compares with
	moved := t.Clone()
	// before the lots move: every posting is booked in the name of an event of its own customer
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
	lots := map[loyalty.ID]loyalty.ID{} // of the guest, of the claimer
	for _, l := range guest.Book.Lots() {
		// one that was taken back as a whole has nothing to move, not even what was spent of it
		if l.Transaction != t.Name || l.Gone() == l.Points {
			continue
		}
		// the lot goes as a whole, with what was spent of it, so that a refund finds it at the claimer
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
	gone.Tell().Transaction = &loyalty.TransactionEffect{} // no purchase of theirs: a tier by spend counts it no more
	gone.Shown(-total)
	r.Event.Shown(total)
	return rebind(r, guest, t, lots)
}

// rebind seals the purchase under the claimer's key, and gives its lines the lots
// that they have now.
func rebind(r *engine.Run, guest *engine.Run, t *loyalty.Transaction, lots map[loyalty.ID]loyalty.ID) (err error) {
	from, to := guest.Customer.Key, r.Customer.Key
	if t.Detail.Personal, err = loyalty.Reseal(from, to, t.Detail.Personal, t.Checkout, t.Checkout); err != nil {
		return err
	}
	for i := range t.Detail.Items {
		l := &t.Detail.Items[i]
		// a line that earned nothing has no lot; it keeps the event that it had
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

// movePromise moves what a pending purchase promises, and what any purchase used.
func movePromise(r *engine.Run, guest *engine.Run, gone *loyalty.Event, t *loyalty.Transaction) error {
	// only what waits promises: of the others the lots have moved
	if t.State == loyalty.Pending {
		guest.Book.Withdraw(gone.ID, t.Earned)
		if err := Promise(r, r.Event, t.Earned); err != nil {
			return err
		}
	}
	return engine.Claimed(r, guest, gone, t)
}
