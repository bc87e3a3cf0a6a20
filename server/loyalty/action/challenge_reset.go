package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// challenge_reset lets a customer begin again with what a challenge asks for;
// what they completed stays completed.
var challengeReset = loyalty.Action[events.ChallengeResetData]{
	Name: "challenge_reset", Standing: loyalty.Earner,
	Needs: func(_ events.ChallengeResetData, n *loyalty.CustomerNeeds) {
		n.Progress = loyalty.Kinds(loyalty.ProgressChallenge)
	},
	Apply: func(r *loyalty.Run, d events.ChallengeResetData) error {
		return r.ResetChallenge(r.Event, d.Challenge)
	},
}
