package action

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// RewardClaimData are the attributes of the operation reward_claim.
type RewardClaimData struct {
	Reward string `json:"reward"`
}

// reward_claim is written by the claim endpoints: the customer takes a reward for
// its price. Its value is a *loyalty.ClaimResult.
var rewardClaim = loyalty.Action[RewardClaimData]{
	Name: "reward_claim", Standing: loyalty.Spender,
	Needs: func(d RewardClaimData, n *loyalty.CustomerNeeds) {
		n.Lots, n.Progress = loyalty.OpenLots, loyalty.Kinds(loyalty.ProgressReward)
		n.Tallies = []string{loyalty.TallyReward + d.Reward}
	},
	Apply: func(r *loyalty.Run, d RewardClaimData) error {
		wanted := loyalty.Rewards.Of(r.Programme)[d.Reward]
		if wanted == nil {
			return loyalty.ErrRewardNotFound.At("data.reward")
		}
		result, err := r.ClaimReward(wanted, wanted.Points, nil)
		r.Value = result
		return err
	},
}
