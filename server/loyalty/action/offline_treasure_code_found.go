package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// offline_treasure_code_found finds a treasure at a place, by the code that is written there.
var offlineTreasureCodeFound = engine.Action[events.OfflineTreasureCodeFoundData]{
	Name: "offline_treasure_code_found", Standing: engine.Earner,
	Needs: func(_ events.OfflineTreasureCodeFoundData, n *loyalty.CustomerNeeds) { needTreasures(n) },
	Apply: func(r *engine.Run, d events.OfflineTreasureCodeFoundData) error {
		return findTreasure(r, d.TreasureID, d.Code)
	},
}
