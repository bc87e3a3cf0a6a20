package loyalty

import (
	"maps"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// ClaimState is where a claimed reward stands.
type ClaimState string

// The states of a claimed reward.
const (
	ClaimClaimed     ClaimState = "claimed"
	ClaimRedeemed    ClaimState = "redeemed"    // handed out
	ClaimRevoked     ClaimState = "revoked"     // points back, coupon invalid
	ClaimTransferred ClaimState = "transferred" // another customer has it now
)

// RewardClaim is a reward that a customer took. Its id is that of the event
// that records the claim.
type RewardClaim struct {
	ID        ID
	Customer  ID // of the row: who claimed or received it
	Reward    string
	State     ClaimState
	Points    int64  // what it cost
	Award     int64  // points it gave
	Coupon    string // the code it gave; empty: none
	ClaimedAt time.Time
	UpdatedAt time.Time
	Burn      []points.Portion // the lots that paid, less what came back

	dirty bool
}

// RewardClaim finds a reward that the customer claimed or received, by the
// event that records it. What is changed through the pointer is kept by
// ChangedClaim; nil: there is none.
func (r *Run) RewardClaim(event ID) (*RewardClaim, error) {
	if err := r.require(CustomerNeeds{Claims: true}); err != nil {
		return nil, err
	}
	return r.account.claims[event], nil
}

// RewardClaims lists the customer's claims, the oldest first.
func (r *Run) RewardClaims() ([]*RewardClaim, error) {
	if err := r.require(CustomerNeeds{Claims: true}); err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(r.account.claims), func(a, b *RewardClaim) int { return CompareID(a.ID, b.ID) }), nil
}

// ChangedClaim keeps what an event of this customer made of a claim.
func (r *Run) ChangedClaim(e *Event, c *RewardClaim) {
	c.UpdatedAt, c.dirty = r.Now, true
	r.account.claims[c.ID] = c
	e.effects().Claims = append(e.effects().Claims, ClaimEffect{
		ID: c.ID, Customer: c.Customer, Reward: c.Reward, State: c.State, Points: c.Points, Award: c.Award, Coupon: c.Coupon,
		ClaimedAt: c.ClaimedAt, Burn: slices.Clone(c.Burn),
	})
}

// writeClaims adds the claims that changed to the batch's writes.
func (a *account) writeClaims(w *Writes) {
	for _, id := range slices.SortedFunc(maps.Keys(a.claims), CompareID) {
		after := a.claims[id]
		if !after.dirty {
			continue
		}
		if before, ok := a.storedClaim(id); ok {
			w.RewardClaims = append(w.RewardClaims, Changed[RewardClaim]{before, *after})
		} else {
			w.NewRewardClaims = append(w.NewRewardClaims, *after)
		}
	}
}

func (a *account) storedClaim(id ID) (RewardClaim, bool) {
	if a.loaded == nil {
		return RewardClaim{}, false
	}
	c, ok := a.loaded.Claims[id]
	return c, ok
}
