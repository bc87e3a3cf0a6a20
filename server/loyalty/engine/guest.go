package engine

import (
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// guest enrols nobody: somebody whom the programme does not know, or knows as
// inactive, buys under an identifier of the caller's.
func (r *Run) guest(t *Ticket) error {
	if !t.sub.Guest || (r.Customer.Status != loyalty.None && r.Customer.Status != loyalty.Inactive) {
		return nil
	}
	return r.Move("guest")
}

// guestMay says whether an action is one that a guest's purchase needs.
func (r *Run) guestMay(t *Ticket) bool {
	if t.sub.Guest {
		return true
	}
	_, bought := r.account.transactions[t.transaction]
	return bought && loyalty.TransactionMoves[t.rule.Meta().Name] != nil
}

// TakePurchase moves a guest's purchase to this customer: its own row and its name.
func (r *Run) TakePurchase(guest *Run, t *loyalty.Transaction) error {
	before, ok := guest.account.was(t.Name)
	if !ok {
		return loyalty.ErrBatchConflict
	}
	r.work.merged = append(r.work.merged, guest.Customer.ID, r.Customer.ID)
	name := loyalty.Name{Kind: loyalty.NameTransaction, Value: t.Name}
	t.Customer, t.Holder = r.Customer.ID, r.Customer.ID
	guest.Free(name)
	r.work.claims = append(r.work.claims, loyalty.Claim{Name: name, Owner: r.Customer.ID})
	delete(guest.account.transactions, t.Name)
	t.Moved = true
	r.Changed(r.Event, t)
	r.Event.Tell().Holder, r.Event.Tell().Transaction.Claimed = &r.Customer.ID, true
	r.account.moved = append(r.account.moved, loyalty.Changed[loyalty.Transaction]{Before: before, After: *t})
	// Its row stays in the hands of the store until the batch is written: what is due
	// with it is not told by what was loaded.
	r.full, r.Customer.DueAt = false, loyalty.Earlier(r.Customer.DueAt, t.AutoAccept)
	r.Trace("claim", "applied", "reason.moved", loyalty.Deref(r.Event.Points))
	return nil
}

// TouchedBefore says whether the batch changed a customer before this submission: what
// they have is not stored yet.
func (r *Run) TouchedBefore(id loyalty.ID) bool { return slices.Contains(r.batch.touched, id) }
