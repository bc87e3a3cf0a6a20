package reward

import (
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// ClaimOutlook reports whether a customer could claim a reward now, and if not, why.
type ClaimOutlook struct {
	// Refusal is the error that a claim would get; nil: it would be accepted.
	Refusal       error
	Claims        int64     // claims of the customer that stand
	Left          *int64    // claims that max_claims still allows; nil: no limit
	LastClaimedAt time.Time // zero: never
}

// ClaimNeeds is what the outlooks of rewards read, so that a list loads it at once. It needs no lots: the customer's
// figures show whether a price can be paid.
func ClaimNeeds(rewards map[string]*Reward) loyalty.CustomerNeeds {
	n := loyalty.CustomerNeeds{Progress: loyalty.Kinds(loyalty.ProgressReward), Pools: map[string]int{}}
	for id, reward := range rewards {
		n.Tallies = append(n.Tallies, loyalty.TallyReward+id)
		if reward.Pool != "" {
			n.Pools[reward.Pool] = 1
		}
	}
	return n
}

// OutlookOn checks a claim against the same rules as Claim, without recording it.
func OutlookOn(r *engine.Run, reward *Reward) (o ClaimOutlook, err error) {
	if o.Refusal, err = engine.RefusalOf(mayClaimNow(r, reward)); err != nil {
		return o, err
	}
	standing, err := r.Claims().Standing(reward.ID)
	if err != nil {
		return o, err
	}
	o.Claims, o.LastClaimedAt = standing.Claims, standing.LastClaimedAt
	if reward.MaxClaims != nil {
		o.Left = new(max(0, *reward.MaxClaims-standing.Claims))
	}
	return o, nil
}

func mayClaimNow(r *engine.Run, reward *Reward) error {
	if err := r.MayAct("reward_claim", engine.Spender); err != nil {
		return err
	}
	if _, err := MayClaim(r, reward, reward.Points); err != nil || reward.Type != RewardCoupon {
		return err
	}
	return coupon.MayIssue(r, "reward_claim", reward.Source())
}

// MayHave reports whether a reward is open to this customer: it names no segments, or one that
// they belong to.
func MayHave(r *engine.Run, reward *Reward) (bool, error) { return r.MemberOfAny(reward.Segments) }

// InStock is how many more claims the reward's stock allows, or nil if it is unlimited.
func InStock(r *engine.Run, reward *Reward) (*int64, error) {
	given, err := r.Tallies().Of(loyalty.TallyReward + reward.ID)
	return reward.Left(given), err
}
