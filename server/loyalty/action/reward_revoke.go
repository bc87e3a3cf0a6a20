package action

import (
	"github.com/google/uuid"

	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/reward"
)

// reward_revoke undoes the claim of a reward, named by the event that records it.
// Its value is a *loyalty.RevokeResult.
var rewardRevoke = engine.Action[events.RewardRevokeData]{
	Name: "reward_revoke", Standing: engine.Earner,
	Needs: func(_ events.RewardRevokeData, n *loyalty.CustomerNeeds) {
		// used-up lots too: the price goes back into the lots that paid it
		n.Claims, n.Lots, n.Progress = true, loyalty.UsedLots, loyalty.Kinds(loyalty.ProgressReward)
	},
	Apply: func(r *engine.Run, d events.RewardRevokeData) error {
		id, err := uuid.Parse(d.Event)
		if err != nil {
			return loyalty.ErrClaimNotFound.With("event", d.Event).At("data.event")
		}
		result, err := reward.Revoke(r, r.Event, id)
		r.Value = result
		return err
	},
}
