package loyalty

import (
	"errors"
	"time"
)

// ClaimOutlook is what a customer can expect of claiming a reward now.
type ClaimOutlook struct {
	// Refusal is what a claim would be refused with; nil: it would not be.
	Refusal       error
	Claims        int64     // claims of theirs that stand
	Left          *int64    // claims that max_claims leaves them; nil: no limit
	LastClaimedAt time.Time // zero: never
}

// ClaimNeeds is what the outlooks of rewards read, so that it can be loaded at once.
func ClaimNeeds(rewards map[string]*Reward) CustomerNeeds {
	n := CustomerNeeds{Lots: OpenLots, Progress: Kinds(ProgressReward), Pools: map[string]int{}}
	for id, reward := range rewards {
		n.Tallies = append(n.Tallies, TallyReward+id)
		if reward.Pool != "" {
			n.Pools[reward.Pool] = 1
		}
	}
	return n
}

// ClaimOutlook holds a claim of a reward for its price against the same rules as
// ClaimReward, and records nothing.
func (r *Run) ClaimOutlook(reward *Reward) (o ClaimOutlook, err error) {
	if o.Refusal, err = refusal(r.mayClaimNow(reward)); err != nil {
		return o, err
	}
	standing, err := r.RewardStanding(reward.ID)
	if err != nil {
		return o, err
	}
	o.Claims, o.LastClaimedAt = standing.Claims, standing.LastClaimedAt
	if reward.MaxClaims != nil {
		o.Left = new(max(0, *reward.MaxClaims-standing.Claims))
	}
	return o, nil
}

func (r *Run) mayClaimNow(reward *Reward) error {
	if err := r.MayAct("reward_claim", Spender); err != nil {
		return err
	}
	if _, err := r.mayClaim(reward, reward.Points); err != nil || reward.Type != RewardCoupon {
		return err
	}
	return r.mayIssue("reward_claim", reward.source())
}

// refusal tells what the programme refuses from what went wrong, or has to be
// loaded first.
func refusal(err error) (refused, fault error) {
	var e *Error
	if errors.As(err, &e) && e.Kind == Refused {
		return err, nil
	}
	return nil, err
}

// MayHave says whether a reward is for this customer: everything is that names no
// segments, or one that they are in.
func (r *Run) MayHave(reward *Reward) (bool, error) { return r.memberOfAny(reward.Segments) }

// InStock is how many more claims the stock of a reward allows in all; nil: it has
// no limit.
func (r *Run) InStock(reward *Reward) (*int64, error) {
	given, err := r.Tally(TallyReward + reward.ID)
	return reward.Left(given), err
}
