package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/challenge"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// challenge_reset sets the customer's progress in a challenge back to zero; completions stay.
var challengeReset = engine.Action[events.ChallengeResetData]{
	Name: "challenge_reset", Standing: engine.Earner,
	Needs: func(_ events.ChallengeResetData, n *loyalty.CustomerNeeds) {
		n.Progress = loyalty.Kinds(loyalty.ProgressChallenge)
	},
	Apply: func(r *engine.Run, d events.ChallengeResetData) error {
		return challenge.Reset(r, r.Event, d.Challenge)
	},
}
