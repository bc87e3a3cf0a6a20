package action

import (
	"github.com/google/uuid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
)

// RewardRedeemData are the attributes of the operation reward_redeem.
type RewardRedeemData struct {
	Claim string `json:"claim"` // the event that records the claim
}

// reward_redeem is written when a till or a partner hands out a claimed reward. Its value is a *loyalty.Redeemed.
var rewardRedeem = engine.Action[RewardRedeemData]{
	Name: "reward_redeem", Standing: engine.Spender,
	Needs: func(_ RewardRedeemData, n *loyalty.CustomerNeeds) { n.Claims = true },
	Apply: func(r *engine.Run, d RewardRedeemData) error {
		id, err := uuid.Parse(d.Claim)
		if err != nil {
			return loyalty.ErrClaimNotFound.With("event", d.Claim).At("data.claim")
		}
		result, err := reward.Redeem(r, id)
		r.Value = result
		return err
	},
}
