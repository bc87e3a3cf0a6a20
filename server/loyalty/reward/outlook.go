package reward

import (
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/coupon"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// ClaimOutlook is what a customer can expect of claiming a reward now.
type ClaimOutlook struct {
	// Refusal is what a claim would be refused with; nil: it would not be.
	Refusal       error
	Claims        int64     // claims of theirs that stand
	Left          *int64    // claims that max_claims leaves them; nil: no limit
	LastClaimedAt time.Time // zero: never
}

// ClaimNeeds is what the outlooks of rewards read, so that it can be loaded at once. Whether
// a price can be paid is told by the figures alone.
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

// OutlookOn holds a claim of a reward for its price against the same rules as
// ClaimReward, and records nothing.
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

// MayHave says whether a reward is for this customer: everything is that names no
// segments, or one that they are in.
func MayHave(r *engine.Run, reward *Reward) (bool, error) { return r.MemberOfAny(reward.Segments) }

// InStock is how many more claims the stock of a reward allows in all; nil: it has
// no limit.
func InStock(r *engine.Run, reward *Reward) (*int64, error) {
	given, err := r.Tallies().Of(loyalty.TallyReward + reward.ID)
	return reward.Left(given), err
}
