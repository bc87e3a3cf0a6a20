package engine

import (
	"maps"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// TakePurchase moves a guest's purchase to this customer: its row and its transaction_id.
func TakePurchase(r *Run, guest *Run, t *loyalty.Transaction) error {
	before, ok := guest.account.was().Transactions[t.Name]
	if !ok {
		return loyalty.ErrBatchConflict
	}

	r.work.merged = append(r.work.merged, guest.Customer.ID, r.Customer.ID)
	name := loyalty.Name{Kind: loyalty.NameTransaction, Value: t.Name}
	t.Customer, t.Holder = r.Customer.ID, r.Customer.ID
	move(r, guest, name)
	delete(guest.account.transactions, t.Name)
	t.Moved = true
	r.Changed(r.Event, t)
	r.Event.Tell().Holder, r.Event.Tell().Transaction.Claimed = &r.Customer.ID, true
	r.account.moved = append(r.account.moved, loyalty.Changed[loyalty.Transaction]{Before: before, After: *t})
	// Its row stays unread until the batch is written, so the loaded rows cannot show when it falls due.
	r.full, r.Customer.DueAt = false, loyalty.Earlier(r.Customer.DueAt, t.AutoAccept)
	r.Trace("claim", "applied", "reason.moved", loyalty.Deref(r.Event.Points))
	return nil
}

// move gives a name of one customer to another. It is freed first and claimed again by the new owner; the store writes
// both in this order.
func move(r *Run, from *Run, name loyalty.Name) {
	from.Free(name)
	r.work.claims = append(r.work.claims, loyalty.Claim{Name: name, Owner: r.Customer.ID})
}

// TouchedBefore reports whether the batch changed a customer before this submission, so that their rows in the database
// are not the latest.
func TouchedBefore(r *Run, id loyalty.ID) bool { return slices.Contains(r.batch.touched, id) }

// everything is what a merge reads of both sides.
var everything = loyalty.CustomerNeeds{Everything: true, Key: true, Lots: loyalty.UsedLots}

// Transaction returns a purchase of this customer by transaction_id. It fails with ErrTransactionNotFound, also for a
// purchase of another customer: it was not opened with the account (see open), and its owner is not disclosed.
func (r *Run) Transaction(name string) (*loyalty.Transaction, error) {
	if t, ok := r.account.transactions[name]; ok {
		return t, nil
	}
	return nil, loyalty.ErrTransactionNotFound.At("data.transaction_id")
}

// OpenTransaction claims a transaction_id and begins its purchase. It fails with
// ErrTransactionExists if any customer used the id before.
func (r *Run) OpenTransaction(name string) (*loyalty.Transaction, error) {
	if err := loyalty.CheckName("transaction_id", name); err != nil {
		return nil, err
	}
	if !r.Claim(loyalty.Name{Kind: loyalty.NameTransaction, Value: name}) {
		return nil, loyalty.ErrTransactionExists.At("data.transaction_id")
	}
	t := &loyalty.Transaction{
		Customer: r.Customer.ID, Holder: r.Customer.ID, Name: name, UpdatedAt: r.Now,
		PurchaseOpening: loyalty.PurchaseOpening{Checkout: r.Event.ID, CreatedAt: r.Now, CheckoutDate: r.At},
	}
	r.account.transactions[name] = t
	return t, nil
}

// Purchases returns the customer's loaded purchases by transaction_id.
func (r *Run) Purchases() map[string]*loyalty.Transaction { return r.account.transactions }

// Bought returns one of the customer's purchases by transaction_id: a loaded one, or one that this
// batch took over from a guest, which is not among the loaded ones until it is written; nil if it
// is neither.
func (r *Run) Bought(name string) *loyalty.Transaction {
	if t := r.account.transactions[name]; t != nil {
		return t
	}
	for i := range r.account.moved {
		if t := &r.account.moved[i].After; t.Name == name {
			return t
		}
	}
	return nil
}

// Changed records a purchase's new state on an event. The journal gets only the lines that changed since the last time,
// because there may be thousands.
func (r *Run) Changed(e *loyalty.Event, t *loyalty.Transaction) {
	t.UpdatedAt, t.Dirty = r.Now, true
	delete(r.work.told, t)
	effect := t.Effect()
	if t.Name == e.Transaction {
		effect.Follow(e.Tell().Transaction)
		e.Tell().Transaction = effect
		return
	}

	effect.Name = t.Name
	all := &e.Tell().Purchases
	for i := range *all {
		if o := &(*all)[i]; o.Name == t.Name {
			effect.Follow(o)
		}
	}

	*all = slices.DeleteFunc(*all, func(o loyalty.TransactionEffect) bool { return o.Name == t.Name })
	*all = append(*all, *effect)
}

// TellLater is Changed for one of several changes in a row: only the last event that made one carries the state, once
// all of them are done (see tellNow).
func (r *Run) TellLater(e *loyalty.Event, t *loyalty.Transaction) {
	t.Dirty = true
	if r.work.told == nil {
		r.work.told = map[*loyalty.Transaction]*loyalty.Event{}
	}
	r.work.told[t] = e
}

// Untold reports whether the state of a purchase still has to be recorded (see TellLater).
func (r *Run) Untold(t *loyalty.Transaction) bool { return r.work.told[t] != nil }

// tellNow records the postponed states, sorted by name, so that the same submission writes the same journal on every
// node.
func (w *work) tellNow() {
	byName := func(a, b *loyalty.Transaction) int { return strings.Compare(a.Name, b.Name) }
	for _, t := range slices.SortedFunc(maps.Keys(w.told), byName) {
		e := w.told[t]
		if r := w.run(e.Customer); r != nil {
			r.Changed(e, t)
		}
	}
}

// Reservation returns what is held for a transaction_id; empty if nothing is.
func (r *Run) Reservation(name string) *loyalty.Reservation {
	held, ok := r.account.reservations[name]
	if !ok {
		held = &loyalty.Reservation{Customer: r.Customer.ID, Transaction: name}
		r.account.reservations[name] = held
	}
	return held
}
