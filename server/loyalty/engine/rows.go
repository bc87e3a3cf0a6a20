package engine

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// Progress reads the customer's progress of a kind under a key into v, and reports whether there is
// any.
func (r *Run) Progress(k loyalty.ProgressKind, key string, v any) (bool, error) {
	if err := r.Require(loyalty.CustomerNeeds{Progress: loyalty.Kinds(k)}); err != nil {
		return false, err
	}
	s, ok := r.account.progress[loyalty.ProgressKey{Kind: k, Key: key}]
	if !ok || s.Data == nil {
		return false, nil
	}
	if err := loyalty.ReadInto(s.Data, v); err != nil {
		return false, fmt.Errorf("progress %d %q: %w", k, key, err)
	}
	return true, nil
}

// ProgressOf lists the keys of the customer's progress of a kind, sorted.
func (r *Run) ProgressOf(k loyalty.ProgressKind) ([]string, error) {
	if err := r.Require(loyalty.CustomerNeeds{Progress: loyalty.Kinds(k)}); err != nil {
		return nil, err
	}
	var keys []string
	for key, s := range r.account.progress {
		if key.Kind == k && s.Data != nil {
			keys = append(keys, key.Key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// SetProgress changes a progress on an event of this customer, or on a later event of the submission that carries this
// progress already, because the journal is folded in the order of its ids. due is when the progress must be looked at
// next, zero for never. A nil v removes it.
func (r *Run) SetProgress(e *loyalty.Event, key loyalty.ProgressKey, v any, due time.Time) error {
	if err := r.Require(loyalty.CustomerNeeds{Progress: loyalty.Kinds(key.Kind)}); err != nil {
		return err
	}

	s := &loyalty.Progress{Customer: r.Customer.ID, ProgressKey: key, Dirty: true}
	if v != nil {
		s.Data, s.DueAt = loyalty.JSON(v), due
	}

	r.account.progress[key] = s
	carries := func(o loyalty.Progress) bool { return o.ProgressKey == key }
	for _, o := range r.work.events {
		if o.Customer == e.Customer && loyalty.CompareID(o.ID, e.ID) > 0 && o.Effects != nil &&
			slices.ContainsFunc(o.Effects.Progress, carries) {
			e = o
		}
	}

	effects := e.Tell()
	effects.Progress = slices.DeleteFunc(effects.Progress, carries)
	effects.Progress = append(effects.Progress, *s)
	return nil
}

// ProgressRow returns the row of a progress; nil if there is none.
func (r *Run) ProgressRow(key loyalty.ProgressKey) *loyalty.Progress { return r.account.progress[key] }

// Claims gives access to the rewards that a customer claimed or received, and to their standing
// with each reward.
type Claims struct{ run *Run }

// Claims returns this customer's claims.
func (r *Run) Claims() Claims { return Claims{r} }

// Of returns a claim by the event that records it; nil if there is none. Changes through the
// pointer are recorded by Changed.
func (in Claims) Of(event loyalty.ID) (*loyalty.RewardClaim, error) {
	if err := in.run.Require(loyalty.CustomerNeeds{Claims: true}); err != nil {
		return nil, err
	}
	return in.run.account.claims[event], nil
}

// All lists the claims, oldest first.
func (in Claims) All() ([]*loyalty.RewardClaim, error) {
	if err := in.run.Require(loyalty.CustomerNeeds{Claims: true}); err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(in.run.account.claims),
		func(a, b *loyalty.RewardClaim) int { return loyalty.CompareID(a.ID, b.ID) }), nil
}

// Changed records a claim's new state on an event of this customer.
func (in Claims) Changed(e *loyalty.Event, c *loyalty.RewardClaim) {
	c.UpdatedAt, c.Dirty = in.run.Now, true
	in.run.account.claims[c.ID] = c
	told := *c
	told.Burn = slices.Clone(c.Burn)
	e.Tell().Claims = append(e.Tell().Claims, told)
}

// RewardStanding is a customer's progress with one reward (ProgressReward).
type RewardStanding struct {
	// Claims counts this customer's own claims that stand, which max_claims limits. A claim that was passed on still
	// counts; one that was received does not.
	Claims        int64     `json:"claims"`
	LastClaimedAt time.Time `json:"last_claimed_at"`
	// Received lists claims that another customer made.
	Received []loyalty.ID `json:"received,omitempty"`
	// Coupons are codes of this reward that the customer received without a claim, by coupon_transfer.
	Coupons []string `json:"coupons,omitempty"`
}

// Merge adds the standing of another account of the same person.
func (s *RewardStanding) Merge(o RewardStanding) {
	s.Claims += o.Claims
	if o.LastClaimedAt.After(s.LastClaimedAt) {
		s.LastClaimedAt = o.LastClaimedAt
	}
	s.Received = append(slices.Clip(s.Received), o.Received...)
	s.Coupons = append(slices.Clip(s.Coupons), o.Coupons...)
}

// Standing returns the customer's standing with a reward; zero if they never had any.
func (in Claims) Standing(reward string) (s RewardStanding, err error) {
	_, err = in.run.Progress(loyalty.ProgressReward, reward, &s)
	return s, err
}

// SetStanding stores a standing, or deletes it if it is empty: a customer who gave everything back must be stored like
// one who never claimed, because a rebuild from the journal gives no row either.
func (in Claims) SetStanding(e *loyalty.Event, reward string, s RewardStanding) error {
	if s.Claims == 0 && len(s.Received) == 0 && len(s.Coupons) == 0 {
		return in.run.SetProgress(e, loyalty.ProgressKey{Kind: loyalty.ProgressReward, Key: reward}, nil, time.Time{})
	}
	return in.run.SetProgress(e, loyalty.ProgressKey{Kind: loyalty.ProgressReward, Key: reward}, s, time.Time{})
}

// Tallies gives access to counts that belong to no customer, such as how many of a reward were given.
type Tallies struct{ run *Run }

// Tallies returns the programme's counts.
func (r *Run) Tallies() Tallies { return Tallies{r} }

// Of returns a count; 0 if there is none yet.
func (in Tallies) Of(key string) (int64, error) {
	if n, ok := in.run.work.tallies[key]; ok {
		return n, nil
	}
	if err := in.run.Require(loyalty.CustomerNeeds{Tallies: []string{key}}); err != nil {
		return 0, err
	}
	return in.run.batch.tallies[key], nil
}

// Add changes a count by n on an event.
func (in Tallies) Add(e *loyalty.Event, key string, n int64) error {
	before, err := in.Of(key)
	if err != nil {
		return err
	}
	if in.run.work.tallies == nil {
		in.run.work.tallies = map[string]int64{}
	}
	in.run.work.tallies[key] = before + n
	e.Tell().Tallies = append(e.Tell().Tallies, loyalty.Tally{Key: key, Count: n})
	return nil
}

// History gives access to what came before this submission: what was loaded, and what the batch did.
type History struct{ run *Run }

// History returns this customer's history.
func (r *Run) History() History { return History{r} }

// Purchases returns the purchases as the batch had them before this submission.
func (of History) Purchases() map[string]*loyalty.Transaction {
	if before := of.run.batch.accounts[of.run.Customer.ID]; before != nil {
		return before.transactions
	}
	return nil
}

// Past returns the customer's journal as it was loaded, in order (CustomerNeeds.Past).
func (of History) Past() []loyalty.PastEntry {
	if of.run.account.loaded == nil {
		return nil
	}
	past := slices.Clone(of.run.account.loaded.Past)
	slices.SortFunc(past, func(a, b loyalty.PastEntry) int { return loyalty.CompareID(a.Event, b.Event) })
	return past
}

// Events returns the customer's events that the batch recorded before this submission.
func (of History) Events() (list []*loyalty.Event) {
	for i := range of.run.batch.writes.Events {
		if e := &of.run.batch.writes.Events[i]; e.Customer == of.run.Customer.ID {
			list = append(list, e)
		}
	}
	return list
}

// Postings yields the batch's postings before this submission, and then the submission's own. They are not copied,
// because tiers look at all of them for each event.
func (of History) Postings() iter.Seq[points.Posting] {
	return func(yield func(points.Posting) bool) {
		for _, list := range [...][]points.Posting{of.run.account.postings, of.run.Book.Postings} {
			for _, p := range list {
				if !yield(p) {
					return
				}
			}
		}
	}
}
