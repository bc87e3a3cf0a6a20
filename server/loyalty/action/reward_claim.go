package action

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
)

// RewardClaimData are the attributes of the operation reward_claim.
type RewardClaimData struct {
	Reward string `json:"reward"`
}

// reward_claim is written by the claim endpoints: the customer takes a reward for its price. Its value is a
// *loyalty.ClaimResult.
var rewardClaim = engine.Action[RewardClaimData]{
	Name: "reward_claim", Standing: engine.Spender,
	Needs: func(d RewardClaimData, n *loyalty.CustomerNeeds) {
		n.Lots, n.Progress = loyalty.OpenLots, loyalty.Kinds(loyalty.ProgressReward)
		n.Tallies = []string{loyalty.TallyReward + d.Reward}
	},
	Apply: func(r *engine.Run, d RewardClaimData) error {
		wanted := reward.Rewards.Of(r.Programme)[d.Reward]
		if wanted == nil {
			return loyalty.ErrRewardNotFound.At("data.reward")
		}
		result, err := reward.Claim(r, wanted, wanted.Points, nil)
		r.Value = result
		return err
	},
}
