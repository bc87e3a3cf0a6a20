package engine

import (
	"maps"
	"slices"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// TakePurchase moves a guest's purchase to this customer: its own row and its name.
func TakePurchase(r *Run, guest *Run, t *loyalty.Transaction) error {
	before, ok := guest.account.was().Transactions[t.Name]
	if !ok {
		return loyalty.ErrBatchConflict
	}
	r.work.merged = append(r.work.merged, guest.Customer.ID, r.Customer.ID)
	name := loyalty.Name{Kind: loyalty.NameTransaction, Value: t.Name}
	t.Customer, t.Holder = r.Customer.ID, r.Customer.ID
	// the name goes first and comes back under the new owner: the store takes both in this
	// order
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
func TouchedBefore(r *Run, id loyalty.ID) bool { return slices.Contains(r.batch.touched, id) }

// everything is what a merge reads of both sides.
var everything = loyalty.CustomerNeeds{Everything: true, Key: true, Lots: loyalty.UsedLots}

// Transaction finds a purchase of this customer by transaction_id.
// It fails with ErrTransactionNotFound.
// A purchase that is another customer's was not opened with the account (see open), and is
// not found either: whose it is is not told.
func (r *Run) Transaction(name string) (*loyalty.Transaction, error) {
	if t, ok := r.account.transactions[name]; ok {
		return t, nil
	}
	return nil, loyalty.ErrTransactionNotFound.At("data.transaction_id")
}

// OpenTransaction claims a transaction_id and begins its purchase. It fails
// with ErrTransactionExists when the id was used before, by any customer.
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

// Purchases are those of the customer that are at hand, by transaction_id.
func (r *Run) Purchases() map[string]*loyalty.Transaction { return r.account.transactions }

// Changed records what an event made of a purchase. Of its lines the journal tells
// those that changed since the last time: there may be thousands.
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

// TellLater is Changed for one of many changes in a row: only the last event that
// made one tells the state, once all of them are through (see tellNow).
func (r *Run) TellLater(e *loyalty.Event, t *loyalty.Transaction) {
	t.Dirty = true
	if r.work.told == nil {
		r.work.told = map[*loyalty.Transaction]*loyalty.Event{}
	}
	r.work.told[t] = e
}

// Untold says whether the state of a purchase is still to be told (see TellLater).
func (r *Run) Untold(t *loyalty.Transaction) bool { return r.work.told[t] != nil }

// tellNow records what was put off.
// By name, so that the same submission writes the same journal on every node.
func (w *work) tellNow() {
	byName := func(a, b *loyalty.Transaction) int { return strings.Compare(a.Name, b.Name) }
	for _, t := range slices.SortedFunc(maps.Keys(w.told), byName) {
		e := w.told[t]
		if r := w.run(e.Customer); r != nil {
			r.Changed(e, t)
		}
	}
}

// Reservation gives what is held for a transaction_id; empty where nothing is.
func (r *Run) Reservation(name string) *loyalty.Reservation {
	held, ok := r.account.reservations[name]
	if !ok {
		held = &loyalty.Reservation{Customer: r.Customer.ID, Transaction: name}
		r.account.reservations[name] = held
	}
	return held
}
