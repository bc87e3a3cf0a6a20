package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// NeedMoreError ends a run that needs something which was not loaded: the batch is loaded again with these needs added.
// That costs a round trip, so an event declares in advance all needs that can be known.
type NeedMoreError struct {
	needs loyalty.CustomerNeeds
	more  []loyalty.CustomerNeeds
}

func (w *NeedMoreError) Error() string {
	return fmt.Sprintf("more must be loaded: %+v %+v", w.needs, w.more)
}

// cover records the needs that were loaded.
func (b *batch) cover(n loyalty.Needs) {
	b.asked = asked{map[person]bool{}, map[loyalty.Name]bool{}, map[string]int{}, map[string]bool{}, n.Version}
	for i := range n.Customers {
		c := &n.Customers[i]
		b.asked.people[personOf(c)] = true
		b.asked.shared(c)
		if a := b.accounts[b.idOf(personOf(c))]; a != nil {
			a.covered.add(c)
		}
	}
}

// idOf returns the id of a customer that was asked for; zero if there is none.
func (b *batch) idOf(p person) loyalty.ID {
	switch {
	case p.id != (loyalty.ID{}):
		return p.id
	case p.match != "":
		return b.loaded.Matches[p.match]
	}
	return b.names[p.ref]
}

// Require makes sure that rows of this run's customer, and rows that belong to no customer, were loaded. It is for
// needs that only the data or the programme can tell. Its error must be returned unchanged; the event is then decided
// again with more rows loaded.
func (r *Run) Require(n loyalty.CustomerNeeds) error {
	if shared := r.batch.asked.missing(&n); shared != nil {
		return &NeedMoreError{needs: *shared}
	}
	if r.account.loaded == nil || r.account.covers(&n) {
		return nil
	}
	n.ID, n.Ref, n.Match = r.Customer.ID, loyalty.Name{}, ""
	return &NeedMoreError{needs: n}
}

// Other opens the account of another customer that this event touches, after applying what is due for that customer.
// For a merged customer it returns the one that has their points now, which may be the run itself. It fails with
// ErrCustomerNotFound.
func (r *Run) Other(n loyalty.CustomerNeeds) (*Run, error) {
	b := r.batch
	switch {
	case b.stale[n.Match]:
		return nil, loyalty.ErrBatchConflict // an earlier event may have changed which customer matches; load again
	case !b.asked.people[personOf(&n)] && !b.begun(n.ID):
		return nil, &NeedMoreError{needs: n}
	}

	a, ok := b.accounts[b.idOf(personOf(&n))]
	if !ok {
		return nil, loyalty.ErrCustomerNotFound
	}

	a, err := b.survivor(a, n)
	if err != nil {
		return nil, err
	}

	for _, open := range r.work.runs {
		if open.Customer.ID == a.customer.ID {
			open.At, open.Late = r.At, r.Late
			return open, open.Require(n)
		}
	}

	return openOther(r, a, n)
}

// begun reports whether a customer was created in this batch: none of their rows is stored, and in the next attempt
// they will have another id.
func (b *batch) begun(id loyalty.ID) bool {
	a := b.accounts[id]
	return a != nil && a.loaded == nil
}

func openOther(r *Run, a *account, n loyalty.CustomerNeeds) (*Run, error) {
	if a.loaded != nil && !a.covers(&n) {
		n.ID, n.Ref, n.Match = a.customer.ID, loyalty.Name{}, ""
		return nil, &NeedMoreError{needs: n}
	}
	other := r.batch.openRun(r.Programme, a, r.work)
	if err := r.work.before(func() error { return settleDue(other) }); err != nil {
		return nil, err
	}
	other.At, other.Late = r.At, r.Late
	return other, nil
}

// before applies what was due before the event at hand. Nothing reacts to that event meanwhile, because its rules are
// not finished. Its instant stays the same, although the due effects may reach the same customers at another instant.
// Otherwise a purchase that is accepted on the way could make a campaign reward an event that is refused in the end.
func (w *work) before(due func() error) error {
	waiting, around, runs := w.news(), w.around, slices.Clone(w.runs)
	type instant struct {
		at   time.Time
		late bool
	}

	was := make([]instant, len(runs))
	for i, run := range runs {
		was[i] = instant{run.At, run.Late}
	}

	if err := due(); err != nil {
		return err
	}

	for i, run := range runs {
		run.At, run.Late = was[i].at, was[i].late
	}

	w.waiting, w.around = append(waiting, w.waiting...), around
	return nil
}

// Begin opens the account of a customer that this event creates, under an identifier that the platform chooses.
func (r *Run) Begin(name string) (*Run, error) {
	names := []loyalty.Name{{Kind: loyalty.NameCustomer, Value: name}}
	if err := r.Require(loyalty.CustomerNeeds{Names: names}); err != nil {
		return nil, err
	}
	a := r.batch.fresh(name)
	other := r.batch.openRun(r.Programme, a, r.work)
	other.At, other.Late = r.At, r.Late
	if !other.Claim(loyalty.Name{Kind: loyalty.NameCustomer, Value: name}) {
		return nil, loyalty.ErrCustomerExists.At("customer")
	}
	return other, nil
}

// survivor follows a merge to the account that has the points now.
func (b *batch) survivor(a *account, n loyalty.CustomerNeeds) (*account, error) {
	if b.merged[a.customer.ID] {
		return nil, loyalty.ErrBatchConflict // decided again, alone, on the stored rows
	}

	followed := false
	for a.customer.Status == loyalty.Merged && a.customer.MergedInto != (loyalty.ID{}) {
		n.ID, n.Ref, n.Match = a.customer.MergedInto, loyalty.Name{}, ""
		next, ok := b.accounts[n.ID]
		if !ok {
			if b.asked.people[personOf(&n)] {
				return nil, loyalty.ErrBatchConflict
			}
			return nil, &NeedMoreError{needs: n}
		}
		a, followed = next, true
	}

	if followed && a.loaded != nil && !a.covers(&n) {
		return nil, &NeedMoreError{needs: n} // what was loaded are the rows of the merged customer
	}

	return a, nil
}
