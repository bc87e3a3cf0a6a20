package engine

import (
	"maps"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// RewardClaim finds a reward that the customer claimed or received, by the
// event that records it. What is changed through the pointer is kept by
// ChangedClaim; nil: there is none.
func (r *Run) RewardClaim(event loyalty.ID) (*loyalty.RewardClaim, error) {
	if err := r.Require(loyalty.CustomerNeeds{Claims: true}); err != nil {
		return nil, err
	}
	return r.account.claims[event], nil
}

// RewardClaims lists the customer's claims, the oldest first.
func (r *Run) RewardClaims() ([]*loyalty.RewardClaim, error) {
	if err := r.Require(loyalty.CustomerNeeds{Claims: true}); err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(r.account.claims), func(a, b *loyalty.RewardClaim) int { return loyalty.CompareID(a.ID, b.ID) }), nil
}

// ChangedClaim keeps what an event of this customer made of a claim.
func (r *Run) ChangedClaim(e *loyalty.Event, c *loyalty.RewardClaim) {
	c.UpdatedAt, c.Dirty = r.Now, true
	r.account.claims[c.ID] = c
	e.Tell().Claims = append(e.Tell().Claims, loyalty.ClaimEffect{
		ID: c.ID, Customer: c.Customer, Reward: c.Reward, State: c.State, Points: c.Points, Award: c.Award, Coupon: c.Coupon,
		ClaimedAt: c.ClaimedAt, Burn: slices.Clone(c.Burn),
	})
}

// writeClaims adds the claims that changed to the batch's writes.
func (a *account) writeClaims(w *loyalty.Writes) {
	for _, id := range slices.SortedFunc(maps.Keys(a.claims), loyalty.CompareID) {
		after := a.claims[id]
		if !after.Dirty {
			continue
		}
		if before, ok := a.storedClaim(id); ok {
			w.RewardClaims = append(w.RewardClaims, loyalty.Changed[loyalty.RewardClaim]{Before: before, After: *after})
		} else {
			w.NewRewardClaims = append(w.NewRewardClaims, *after)
		}
	}
}

func (a *account) storedClaim(id loyalty.ID) (loyalty.RewardClaim, bool) {
	if a.loaded == nil {
		return loyalty.RewardClaim{}, false
	}
	c, ok := a.loaded.Claims[id]
	return c, ok
}

// RewardStanding is a customer's progress with one reward (ProgressReward).
type RewardStanding struct {
	// Claims of theirs that stand: what max_claims counts. A claim that was passed
	// on still counts, one that was received does not.
	Claims        int64     `json:"claims"`
	LastClaimedAt time.Time `json:"last_claimed_at"`
	// Received are claims that another customer made.
	Received []loyalty.ID `json:"received,omitempty"`
	// Coupons are codes of this reward that came alone, by coupon_transfer.
	Coupons []string `json:"coupons,omitempty"`
}

// Merge adds what another account of the same person stands for.
func (s *RewardStanding) Merge(o RewardStanding) {
	s.Claims += o.Claims
	if o.LastClaimedAt.After(s.LastClaimedAt) {
		s.LastClaimedAt = o.LastClaimedAt
	}
	s.Received = append(slices.Clip(s.Received), o.Received...)
	s.Coupons = append(slices.Clip(s.Coupons), o.Coupons...)
}

// RewardStanding reads the customer's progress with a reward; zero where there is
// none.
func (r *Run) RewardStanding(reward string) (s RewardStanding, err error) {
	_, err = r.Progress(loyalty.ProgressReward, reward, &s)
	return s, err
}

func (r *Run) SetRewardStanding(e *loyalty.Event, reward string, s RewardStanding) error {
	if s.Claims == 0 && len(s.Received) == 0 && len(s.Coupons) == 0 {
		return r.SetProgress(e, loyalty.ProgressKey{Kind: loyalty.ProgressReward, Key: reward}, nil, time.Time{})
	}
	return r.SetProgress(e, loyalty.ProgressKey{Kind: loyalty.ProgressReward, Key: reward}, s, time.Time{})
}
