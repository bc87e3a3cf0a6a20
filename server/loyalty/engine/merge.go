package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Merge makes another customer part of this one, in the name of the run's event.
// Rows stay where they are: purchases, claims and events of the other one are
// found through the merge from now on. What figures and standings are made of
// comes over: every lot with all that became of it, under its id, so that what
// was spent, held or bought can still be undone; debt, promises, holds, and
// progress. Refused are a customer who does not exist (160212), oneself (190163),
// and both sides where they are merged or opted out already (190040, 190041).
func (r *Run) Merge(source string) error {
	switch {
	case r.followed:
		return loyalty.ErrWrongStatus.With("status", string(loyalty.Merged)).With("action", r.Event.Action)
	case r.Customer.Status == loyalty.OptedOut:
		return loyalty.ErrWrongStatus.With("status", string(loyalty.OptedOut)).With("action", r.Event.Action)
	}
	if err := r.Require(everything); err != nil {
		return err
	}
	s, err := r.source(loyalty.Name{Kind: loyalty.NameCustomer, Value: source})
	if err != nil {
		return err
	}
	if err := s.Customer.Move("merge"); err != nil {
		return loyalty.AsError(err).At("data.source")
	}
	s.Customer.MergedInto, s.Customer.UpdatedAt, s.changed = r.Customer.ID, r.Now, true
	r.Event.Tell().MergedFrom = &s.Customer.ID
	r.work.merged = append(r.work.merged, s.Customer.ID, r.Customer.ID)
	r.work.joined = append(r.work.joined, loyalty.CampaignMerge{Source: s.Customer.ID, Target: r.Customer.ID})
	if err := r.inherit(s); err != nil {
		return err
	}
	r.takeHolds(s)
	if err := r.joinProgress(s); err != nil {
		return err
	}
	return r.adopt(s)
}

// everything is what a merge reads of both sides.
var everything = loyalty.CustomerNeeds{Everything: true, Key: true, Lots: loyalty.UsedLots}

// source opens the account that a merge ends.
func (r *Run) source(name loyalty.Name) (*Run, error) {
	n := everything
	n.Ref = name
	s, err := r.Other(n)
	switch {
	case errors.Is(err, loyalty.ErrCustomerNotFound):
		return nil, loyalty.ErrCustomerNotFound.At("data.source")
	case err != nil:
		return nil, err
	case r.batch.names[name] != s.Customer.ID: // merged before: it was followed to its target
		return nil, loyalty.ErrForbiddenState.With("from", string(loyalty.Merged)).With("to", string(loyalty.Merged)).At("data.source")
	case s == r:
		return nil, loyalty.ErrMergeSelf.At("data.source")
	case slices.Contains(r.batch.touched, s.Customer.ID):
		return nil, loyalty.ErrBatchConflict // events of this batch changed it: what it has is not stored yet
	}
	return s, nil
}

// inherit moves the points.
func (r *Run) inherit(s *Run) error {
	shown := s.Book.Figures.Spendable()
	estate, err := s.Book.Leave(r.Event.ID)
	if err != nil {
		return err
	}
	if err := r.Book.Inherit(r.Event.ID, estate); err != nil {
		return loyalty.ErrTooLarge.With("property", "points").At("data.source").Because(err)
	}
	r.Event.Shown(shown)
	// What was due to happen to the source is due with the target, also what was
	// not loaded: its pending purchases stay in rows of their own.
	r.full = false
	r.Customer.DueAt = loyalty.Earlier(r.Customer.DueAt, s.Customer.DueAt)
	r.Trace("merge", "applied", "reason.merged", shown)
	return nil
}

// takeHolds moves reservations. Two for the same purchase become one.
func (r *Run) takeHolds(s *Run) {
	for name, held := range s.account.reservations {
		if len(held.Hold) == 0 {
			continue
		}
		mine := r.Reservation(name)
		mine.Hold = append(mine.Hold[:len(mine.Hold):len(mine.Hold)], held.Hold...)
		held.Hold = nil
	}
}

// adopt leads those who were merged into the source before to its target, so that
// a merge is always one step away.
func (r *Run) adopt(s *Run) error {
	if s.account.loaded == nil {
		return nil
	}
	if err := r.requireParts(s.account.loaded.Sources); err != nil {
		return err
	}
	for _, id := range s.account.loaded.Sources {
		part, err := r.Part(id)
		if err != nil {
			return err
		}
		part.Customer.MergedInto, part.Customer.UpdatedAt, part.changed = r.Customer.ID, r.Now, true
	}
	return nil
}

// Part opens the account of a customer who was merged into another one, to change
// its own row. What it had is not there any more.
func (r *Run) Part(id loyalty.ID) (*Run, error) {
	n := loyalty.CustomerNeeds{ID: id, Key: true}
	for _, open := range r.work.runs {
		if open.Customer.ID == id {
			return open, nil
		}
	}
	a, ok := r.batch.accounts[id]
	switch {
	case !r.batch.asked.people[personOf(&n)], ok && a.loaded != nil && !a.covers(&n):
		return nil, &NeedMoreError{needs: n}
	case !ok:
		return nil, loyalty.ErrBatchConflict
	}
	return r.batch.openRun(r.Programme, a, r.work), nil
}

// requireParts makes sure that the accounts of all of them were loaded, with one
// question: there may be any number of them.
func (r *Run) requireParts(ids []loyalty.ID) error {
	var want []loyalty.CustomerNeeds
	for _, id := range ids {
		n := loyalty.CustomerNeeds{ID: id, Key: true}
		if a, ok := r.batch.accounts[id]; !r.batch.asked.people[personOf(&n)] || (ok && a.loaded != nil && !a.covers(&n)) {
			want = append(want, n)
		}
	}
	if want == nil {
		return nil
	}
	return &NeedMoreError{want[0], want[1:]}
}

// Sources are the customers who were merged into this one.
func (r *Run) Sources() ([]*Run, error) {
	if r.account.loaded == nil {
		return nil, nil
	}
	if err := r.Require(everything); err != nil {
		return nil, err
	}
	if err := r.requireParts(r.account.loaded.Sources); err != nil {
		return nil, err
	}
	var parts []*Run
	for _, id := range r.account.loaded.Sources {
		part, err := r.Part(id)
		if err != nil {
			return nil, err
		}
		part.changed = true
		parts = append(parts, part)
	}
	return parts, nil
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

// OpenBought is open for what is stored with a purchase. A purchase of somebody
// who was merged into this customer is sealed under their key, or under that of
// whom they were merged into first.
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
