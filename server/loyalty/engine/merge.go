package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Merge merges another customer into this one, on the run's event. Rows stay where they are: purchases, claims and
// events of the other customer are found through the merge from now on. What makes up figures and progress moves: every
// lot with its history, under its id, so that what was spent, held or bought can still be undone; debt, pending points,
// holds, and progress. It refuses a customer who does not exist (160212), the customer itself (190163), and either side
// if it is merged or opted out already (190040, 190041).
func Merge(r *Run, source string) error {
	switch {
	case r.followed:
		return loyalty.ErrWrongStatus.With("status", string(loyalty.Merged)).With("action", r.Event.Action)
	case r.Customer.Status == loyalty.OptedOut:
		return loyalty.ErrWrongStatus.With("status", string(loyalty.OptedOut)).With("action", r.Event.Action)
	}

	if err := r.Require(everything); err != nil {
		return err
	}

	s, err := mergeSource(r, loyalty.Name{Kind: loyalty.NameCustomer, Value: source})
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
	if err := inherit(r, s); err != nil {
		return err
	}

	takeHolds(r, s)
	takeExternalIDs(r, s)
	if err := joinProgress(r, s); err != nil {
		return err
	}

	return adopt(r, s)
}

// mergeSource opens the account that the merge ends.
func mergeSource(r *Run, name loyalty.Name) (*Run, error) {
	n := everything
	n.Ref = name
	s, err := r.Other(n)
	switch {
	case errors.Is(err, loyalty.ErrCustomerNotFound):
		return nil, loyalty.ErrCustomerNotFound.At("data.source")
	case err != nil:
		return nil, err
	case r.batch.names[name] != s.Customer.ID: // merged before, so the name leads to its target
		return nil, loyalty.ErrForbiddenState.With("from", string(loyalty.Merged)).With("to", string(loyalty.Merged)).
			At("data.source")
	case s == r:
		return nil, loyalty.ErrMergeSelf.At("data.source")
	case slices.Contains(r.batch.touched, s.Customer.ID):
		return nil, loyalty.ErrBatchConflict // events of this batch changed it, and its rows are not stored yet
	}

	return s, nil
}

// inherit moves the points.
func inherit(r *Run, s *Run) error {
	shown := s.Book.Figures.Spendable()
	estate, err := s.Book.Leave(r.Event.ID)
	if err != nil {
		return err
	}
	if err := r.Book.Inherit(r.Event.ID, estate); err != nil {
		return loyalty.ErrTooLarge.With("property", "points").At("data.source").Because(err)
	}

	r.Event.Shown(shown)
	// What was due for the source is due for the target, including rows that were not loaded: pending purchases of the
	// source stay in rows of their own.
	r.full = false
	r.Customer.DueAt = loyalty.Earlier(r.Customer.DueAt, s.Customer.DueAt)
	r.Trace("merge", "applied", "reason.merged", shown)
	return nil
}

// takeHolds moves reservations. Two for the same purchase become one.
func takeHolds(r *Run, s *Run) {
	for name, held := range s.account.reservations {
		if len(held.Hold) == 0 {
			continue
		}
		// clipped, so that appending cannot write into the loaded rows
		mine := r.Reservation(name)
		mine.Hold = append(mine.Hold[:len(mine.Hold):len(mine.Hold)], held.Hold...)
		// emptied instead of deleted here: a concurrent release must fail at the guard of the row instead of releasing
		// twice
		held.Hold = nil
	}
}

// takeExternalIDs moves the ids in other systems after those of the target, as many as fit under a name. The others
// stay with the merged account, through which they still lead to the target.
func takeExternalIDs(r *Run, s *Run) {
	theirs := s.Customer.Profile.ExternalIDs
	if len(theirs) == 0 {
		return
	}

	mine, left := maps.Clone(r.Customer.Profile.ExternalIDs), loyalty.ExternalIDs{}
	if mine == nil {
		mine = loyalty.ExternalIDs{}
	}

	for name, values := range theirs {
		fit := min(len(values), loyalty.MostIDs-len(mine[name]))
		for _, value := range values[:fit] {
			move(r, s, loyalty.ExternalName(name, value))
		}
		if fit > 0 {
			mine[name] = slices.Concat(mine[name], values[:fit])
		}
		if fit < len(values) {
			left[name] = values[fit:]
		}
	}

	r.Customer.Profile.ExternalIDs, s.Customer.Profile.ExternalIDs = mine, left
	r.Customer.UpdatedAt = r.Now
}

// adopt redirects the customers that were merged into the source earlier to its target, so that a merge is always one
// step away.
func adopt(r *Run, s *Run) error {
	if s.account.loaded == nil {
		return nil
	}
	if err := requireParts(r, s.account.loaded.Sources); err != nil {
		return err
	}

	for _, id := range s.account.loaded.Sources {
		part, err := openPart(r, id)
		if err != nil {
			return err
		}
		part.Customer.MergedInto, part.Customer.UpdatedAt, part.changed = r.Customer.ID, r.Now, true
	}

	return nil
}

// openPart opens the account of a merged customer, to change its own row. Its points and progress belong to its target
// by now.
func openPart(r *Run, id loyalty.ID) (*Run, error) {
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

// Sources returns the customers that were merged into this one.
func Sources(r *Run) ([]*Run, error) {
	if r.account.loaded == nil {
		return nil, nil
	}
	if err := r.Require(everything); err != nil {
		return nil, err
	}
	if err := requireParts(r, r.account.loaded.Sources); err != nil {
		return nil, err
	}

	var parts []*Run
	for _, id := range r.account.loaded.Sources {
		part, err := openPart(r, id)
		if err != nil {
			return nil, err
		}
		part.changed = true
		parts = append(parts, part)
	}

	return parts, nil
}

// joinProgress moves the source's progress, key by key. The source's rows are deleted; the event records where the
// progress came from. Keys are in order, because features may read each other's progress while they receive theirs.
func joinProgress(r *Run, s *Run) error {
	for _, key := range slices.SortedFunc(maps.Keys(s.account.progress), loyalty.CompareProgress) {
		p := s.account.progress[key]
		if p.Data == nil {
			continue
		}

		theirs := p.Data
		if receive := r.batch.rules.feature(key.Kind).Receive; receive != nil {
			var err error
			if theirs, err = receive(r, s, key, p.Data); err != nil {
				return err
			}
		}

		if err := joinOne(r, key, p, theirs); err != nil {
			return fmt.Errorf("joining progress %d %q: %w", key.Kind, key.Key, err)
		}

		s.account.progress[key] = &loyalty.Progress{Customer: s.Customer.ID, ProgressKey: key, Dirty: true}
	}

	return nil
}

// joinOne makes one progress of two. If only the source had any, it is taken over with its date; if both had, the
// earlier date is the next one to look at it.
func joinOne(r *Run, key loyalty.ProgressKey, p *loyalty.Progress, theirs json.RawMessage) error {
	own := r.account.progress[key]
	if own == nil || own.Data == nil {
		return r.SetProgress(r.Event, key, theirs, p.DueAt)
	}

	add := r.batch.rules.feature(key.Kind).Join
	// The two cannot be joined: the target keeps its own, as with a referral's bonus.
	if add == nil {
		return r.SetProgress(r.Event, key, own.Data, loyalty.Earlier(own.DueAt, p.DueAt))
	}

	sum, err := add(r, key.Key, own.Data, theirs)
	if err != nil {
		return err
	}

	return r.SetProgress(r.Event, key, sum, loyalty.Earlier(own.DueAt, p.DueAt))
}
