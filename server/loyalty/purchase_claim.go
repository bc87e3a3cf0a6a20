package loyalty

import "github.com/loyalty-platform/loyalty/server/loyalty/points"

// ClaimPurchase makes a guest's purchase this customer's. Its row changes hands;
// each of its lots leaves the guest as it is and comes to the claimer with its
// dates, on a point_add row of its own; what it promises goes along. It fails with
// ErrTransactionNotFound where nobody made it, or somebody who is no guest.
func (r *Run) ClaimPurchase(name string) error {
	unknown := ErrTransactionNotFound.At("data.transaction_id")
	owner, taken := r.owner(Name{NameTransaction, name})
	switch {
	case !taken || owner == r.Customer.ID:
		return unknown
	case r.TouchedBefore(owner):
		return ErrBatchConflict // the row is not stored as it was loaded
	}
	guest, err := r.Other(CustomerNeeds{
		ID: owner, Key: true, Lots: UsedLots, Transactions: []string{name}, Progress: Kinds(ProgressHeld, ProgressOffer),
	})
	if err != nil {
		return err
	}
	t := guest.Purchases()[name]
	if guest == r || guest.Customer.Status != Inactive || t == nil || t.Customer != guest.Customer.ID {
		return unknown
	}
	moved := t.clone()
	gone := guest.Derive(r.Event, "point_sub", nil)
	if err := r.moveLots(guest, gone, moved); err != nil {
		return err
	}
	if err := r.movePromise(guest, gone, moved); err != nil {
		return err
	}
	return r.TakePurchase(guest, moved)
}

// moveLots moves what the purchase earned, lot by lot.
func (r *Run) moveLots(guest *Run, gone *Event, t *Transaction) error {
	var total int64
	lots := map[ID]ID{} // of the guest, of the claimer
	for _, l := range guest.Book.Lots() {
		if l.Transaction != t.Name || l.Gone() == l.Points {
			continue
		}
		was := guest.Book.Part(gone.ID, l)
		come := r.derive(r.Event, "point_add", t.Name, was.Remaining)
		come.Shown(was.Remaining)
		come.ExpDate = was.ExpiresAt
		if !was.Idle.IsZero() {
			come.ExpDate = was.Idle.After(r.Now)
		}
		come.opens(was)
		total += was.Remaining
		lots[was.ID] = come.ID
		was.ID = points.ID(come.ID)
		if err := r.Book.Receive(come.ID, was); err != nil {
			return tooManyPoints(err)
		}
	}
	gone.Data = marshal(purchasePoints{t.Name, total})
	gone.Transaction = t.Name
	gone.effects().Transaction = &TransactionEffect{} // no purchase of theirs: a tier by spend counts it no more
	gone.Shown(-total)
	r.Event.Shown(total)
	return r.rebind(guest, t, lots)
}

// rebind seals the purchase under the claimer's key, and gives its lines the lots
// that they have now.
func (r *Run) rebind(guest *Run, t *Transaction, lots map[ID]ID) (err error) {
	from, to := guest.Customer.Key, r.Customer.Key
	if t.Detail.Personal, err = reseal(from, to, t.Detail.Personal, t.Checkout, t.Checkout); err != nil {
		return err
	}
	for i := range t.Detail.Items {
		l := &t.Detail.Items[i]
		now, has := lots[l.Event]
		if !has {
			now = l.Event
		}
		if l.Personal, err = reseal(from, to, l.Personal, l.Event, now); err != nil {
			return err
		}
		l.Event, l.changed = now, true
	}
	return nil
}

// movePromise moves what a pending purchase promises, and what it used.
func (r *Run) movePromise(guest *Run, gone *Event, t *Transaction) error {
	if t.State != Pending {
		return nil
	}
	guest.Book.Withdraw(gone.ID, t.Earned)
	if err := r.Promise(r.Event, t.Earned); err != nil {
		return err
	}
	return r.Claimed(guest, gone, t)
}
