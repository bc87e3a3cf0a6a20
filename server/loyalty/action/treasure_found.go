package action

import (
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/game"
)

// treasure_found finds an online treasure. Like its two sisters it is built in: the module treasure_hunt only lists
// treasures.
var treasureFound = engine.Action[events.TreasureFoundData]{
	Name: "treasure_found", Standing: engine.Earner,
	Needs: func(_ events.TreasureFoundData, n *loyalty.CustomerNeeds) { needTreasures(n) },
	Apply: func(r *engine.Run, d events.TreasureFoundData) error { return findTreasure(r, d.TreasureID, nil) },
}

func needTreasures(n *loyalty.CustomerNeeds) { n.Progress = loyalty.Kinds(loyalty.ProgressTreasure) }

// findTreasure gives the points of a treasure once. Each treasure can be found by exactly one of the actions.
func findTreasure(r *engine.Run, id string, code *string) error {
	const field = "data.treasure_id"
	t, err := game.TreasureInForce(r, id, field)
	switch {
	case err != nil:
		return err
	case !r.Event.Sent(t.Action()):
		return loyalty.ErrTreasureAction.With("action", t.Action()).At(field)
		// a missing code is reported before anything about the customer, a wrong one only after it
	case t.Code != "" && (code == nil || strings.TrimSpace(*code) == ""):
		return loyalty.ErrPropertyEmpty.With("property", "code").At("data.code")
	}

	if err := game.MayFind(r, t, field); err != nil {
		return err
	}
	if t.Code != "" && !t.Opens(*code) {
		return loyalty.ErrTreasureCode.At("data.code")
	}
	if err := win(r, t.Points, "the treasure "+t.ID); err != nil {
		return err
	}

	// the find is kept even without points, because a treasure is found once
	return r.SetProgress(r.Event, loyalty.ProgressKey{Kind: loyalty.ProgressTreasure, Key: t.ID},
		game.TreasureProgress{FoundAt: r.At}, time.Time{})
}
