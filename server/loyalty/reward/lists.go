package reward

import (
	"cmp"
	"maps"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty/programme"
)

// RewardList lists the rewards in display order: cheapest first, then by id.
func RewardList(p *programme.Programme) []*Reward {
	return slices.SortedFunc(maps.Values(Rewards.Of(p)), func(a, b *Reward) int {
		return cmp.Or(cmp.Compare(a.Points, b.Points), cmp.Compare(a.ID, b.ID))
	})
}

// Left is how much of the reward's stock remains after the given number of claims, or nil if the
// stock is unlimited.
func (r *Reward) Left(given int64) *int64 {
	if r.Stock == nil {
		return nil
	}
	return new(max(0, *r.Stock-given))
}
