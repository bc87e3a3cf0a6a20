package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// guest lets a customer whom the programme does not know, or knows as inactive, buy
// under an identifier of the caller's. It does not enrol them.
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
func (r *Run) TouchedBefore(id loyalty.ID) bool { return slices.Contains(r.batch.touched, id) }

// Promise shows points of a pending purchase that hang on none of its items.
func (r *Run) Promise(e *loyalty.Event, n int64) error { return TooManyPoints(r.Book.Promise(e.ID, n)) }

// TooManyPoints names the items when they earn more than a balance can hold.
func TooManyPoints(err error) error {
	if errors.Is(err, points.ErrOverflow) || errors.Is(err, loyalty.ErrTooLarge) {
		return loyalty.ErrTooLarge.With("property", "points").At("data.items")
	}
	return err
}

// PurchasePoints are the attributes of the rows a purchase derives.
type PurchasePoints struct {
	TransactionID string `json:"transaction_id"`
	Points        int64  `json:"points"`
}

// DerivePoints writes a row that follows from a purchase and tells of points, at the instant
// of its parent: a refund that is dated back takes its rows with it.
func (r *Run) DerivePoints(parent *loyalty.Event, action, transaction string, n int64) *loyalty.Event {
	e := r.Append(action, parent.At)
	e.Parent, e.Transaction = parent.ID, transaction
	e.Data = loyalty.JSON(PurchasePoints{transaction, n})
	return e
}

// everything is what a merge reads of both sides.
var everything = loyalty.CustomerNeeds{Everything: true, Key: true, Lots: loyalty.UsedLots}

// requireParts makes sure that the accounts of all of them were loaded, with one
// question: there may be any number of them.
func (r *Run) requireParts(ids []loyalty.ID) error {
	var want []loyalty.CustomerNeeds
	for _, id := range ids {
		n := loyalty.CustomerNeeds{ID: id, Key: true}
		if a, ok := r.batch.accounts[id]; !r.batch.asked.people[personOf(&n)] || (ok && a.loaded != nil && !a.covers(&n)) {
			// all at once: one round trip, however many were merged into this customer
			want = append(want, n)
		}
	}
	if want == nil {
		return nil
	}
	return &NeedMoreError{want[0], want[1:]}
}

// keyOf gives the key of a customer who was merged into this one; nil: it is gone.
func (r *Run) keyOf(id loyalty.ID) ([]byte, error) {
	n := loyalty.CustomerNeeds{ID: id, Key: true}
	a, ok := r.batch.accounts[id]
	if !r.batch.asked.people[personOf(&n)] || (ok && a.loaded != nil && !a.covers(&n)) {
		return nil, &NeedMoreError{needs: n}
	}
	if !ok {
		return nil, nil
	}
	return a.customer.Key, nil
}

// OpenBought is open for what is stored with a purchase. A purchase of a customer
// who was merged into this customer is sealed under their key, or under that of
// whom they were merged into first.
// Each key is tried, because the row does not tell which: purchases are not sealed anew by
// a merge, there may be thousands.
func (r *Run) OpenBought(t *loyalty.Transaction, sealed []byte, row loyalty.ID, fresh map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	if fresh != nil || sealed == nil {
		return fresh, nil
	}
	if err := r.Require(loyalty.CustomerNeeds{Key: true}); err != nil {
		return nil, err
	}
	if r.Customer.Key == nil || t.Customer == r.Customer.ID {
		return r.open(sealed, row, nil)
	}
	if personal, err := loyalty.OpenAttributes(r.Customer.Key, sealed, row); err == nil {
		return personal, nil
	}
	key, err := r.keyOf(t.Customer)
	if err != nil {
		return nil, err
	}
	if personal, err := loyalty.OpenAttributes(key, sealed, row); err == nil {
		return personal, nil
	}
	if err := r.Require(everything); err != nil || r.account.loaded == nil {
		return nil, err
	}
	if err := r.requireParts(r.account.loaded.Sources); err != nil {
		return nil, err
	}
	for _, id := range r.account.loaded.Sources {
		if key, err = r.keyOf(id); err != nil {
			return nil, err
		}
		if personal, err := loyalty.OpenAttributes(key, sealed, row); err == nil {
			return personal, nil
		}
	}
	return nil, fmt.Errorf("no key opens what is personal of %s", row)
}

// Bequeath keeps with an event what the lines of a purchase that it writes inherit.
// The row of the checkout itself has it already.
func (r *Run) Bequeath(e *loyalty.Event, t *loyalty.Transaction) error {
	if e.ID == t.Checkout || len(t.Detail.Items) == 0 {
		return nil
	}
	personal, err := r.OpenBought(t, t.Detail.Personal, t.Checkout, nil)
	if err != nil {
		return err
	}
	left := &loyalty.Bequest{Plain: t.Detail.Attributes}
	left.Personal, err = r.Seal(personal, e.ID)
	e.Tell().Bequest = left
	return err
}
