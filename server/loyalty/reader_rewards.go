package loyalty

import (
	"cmp"
	"context"
	"maps"
	"slices"
)

// RewardReader answers questions about rewards and claims that name no customer.
type RewardReader interface {
	// ClaimByID finds a claim by the event that records it, with the customer whose
	// claim it is; of a merged one with the one they became part of. It fails with
	// ErrClaimUnknown (190221).
	ClaimByID(ctx context.Context, id ID) (RewardClaim, Customer, error)
	// Tallies reads counts that all customers share, by key. One that was never
	// counted is not among them.
	Tallies(ctx context.Context, keys []string) (map[string]int64, error)
}

// RewardList lists the rewards in the order in which they are shown: the cheapest
// first, then by id.
func (p *Programme) RewardList() []*Reward {
	return slices.SortedFunc(maps.Values(Rewards.Of(p)), func(a, b *Reward) int {
		return cmp.Or(cmp.Compare(a.Points, b.Points), cmp.Compare(a.ID, b.ID))
	})
}

// Left is how much of the reward's stock is left after so many claims in all; nil:
// it has no limit.
func (r *Reward) Left(given int64) *int64 {
	if r.Stock == nil {
		return nil
	}
	return new(max(0, *r.Stock-given))
}

// ChallengeList lists the challenges in the order in which they are shown: those
// that end first, those without an end last, then by id.
func (p *Programme) ChallengeList() []*Challenge {
	return slices.SortedFunc(maps.Values(Challenges.Of(p)), func(a, b *Challenge) int {
		switch {
		case a.EndsAt.IsZero() && !b.EndsAt.IsZero():
			return 1
		case b.EndsAt.IsZero() && !a.EndsAt.IsZero():
			return -1
		}
		return cmp.Or(a.EndsAt.Compare(b.EndsAt.Time), cmp.Compare(a.ID, b.ID))
	})
}
