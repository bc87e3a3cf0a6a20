package loyalty

import (
	"maps"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// guest enrols nobody: somebody whom the programme does not know, or knows as
// inactive, buys under an identifier of the caller's.
func (r *Run) guest(t *ticket) error {
	if !t.sub.Guest || (r.Customer.Status != None && r.Customer.Status != Inactive) {
		return nil
	}
	return r.Move("guest")
}

// guestMay says whether an action is one that a guest's purchase needs.
func (r *Run) guestMay(t *ticket) bool {
	if t.sub.Guest {
		return true
	}
	_, bought := r.account.transactions[t.transaction]
	return bought && transactionMoves[t.rule.Meta().Name] != nil
}

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
	case slices.Contains(r.batch.touched, owner):
		return ErrBatchConflict // the row is not stored as it was loaded
	}
	guest, err := r.Other(CustomerNeeds{
		ID: owner, Key: true, Lots: UsedLots, Transactions: []string{name}, Progress: Kinds(ProgressHeld, ProgressOffer),
	})
	if err != nil {
		return err
	}
	t := guest.account.transactions[name]
	if guest == r || guest.Customer.Status != Inactive || t == nil || t.Customer != guest.Customer.ID {
		return unknown
	}
	r.work.merged = append(r.work.merged, guest.Customer.ID, r.Customer.ID)
	moved := t.clone()
	gone := guest.Derive(r.Event, "point_sub", nil)
	if err := r.moveLots(guest, gone, moved); err != nil {
		return err
	}
	if err := r.movePromise(guest, gone, moved); err != nil {
		return err
	}
	return r.moveRow(guest, moved)
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

// movePromise moves what a pending purchase promises, the offers that it used, and
// its place among the held events where it is held.
func (r *Run) movePromise(guest *Run, gone *Event, t *Transaction) error {
	if t.State != Pending {
		return nil
	}
	guest.Book.Withdraw(gone.ID, t.Earned)
	if err := r.Promise(r.Event, t.Earned); err != nil {
		return err
	}
	if err := r.moveOffers(guest, gone, t); err != nil {
		return err
	}
	for key, p := range maps.Clone(guest.account.progress) {
		var h HeldEvent
		if key.Kind != ProgressHeld || p.Data == nil {
			continue
		}
		if _, err := guest.Progress(key.Kind, key.Key, &h); err != nil {
			return err
		}
		if !h.purchase() || h.Transaction != t.Name {
			continue
		}
		if err := guest.SetProgress(gone, key, nil, p.DueAt); err != nil {
			return err
		}
		return r.SetProgress(r.Event, key, h, p.DueAt)
	}
	return nil
}

// moveRow moves the purchase's own row and its name.
func (r *Run) moveRow(guest *Run, t *Transaction) error {
	before, ok := guest.account.was(t.Name)
	if !ok {
		return ErrBatchConflict
	}
	name := Name{NameTransaction, t.Name}
	t.Customer, t.Holder = r.Customer.ID, r.Customer.ID
	guest.Free(name)
	r.work.claims = append(r.work.claims, Claim{name, r.Customer.ID})
	delete(guest.account.transactions, t.Name)
	t.moved = true
	r.Changed(r.Event, t)
	r.Event.effects().Holder, r.Event.effects().Transaction.Claimed = &r.Customer.ID, true
	r.account.moved = append(r.account.moved, Changed[Transaction]{before, *t})
	// Its row stays in the hands of the store until the batch is written: what is due
	// with it is not told by what was loaded.
	r.full, r.Customer.DueAt = false, earlier(r.Customer.DueAt, t.AutoAccept)
	r.Trace("claim", "applied", "reason.moved", deref(r.Event.Points))
	return nil
}
