package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// offline_treasure_code_found finds a treasure at a place by the code that is
// written there.
var offlineTreasureCodeFound = loyalty.Action[events.OfflineTreasureCodeFoundData]{
	Name: "offline_treasure_code_found", Standing: loyalty.Earner,
	Needs: func(_ events.OfflineTreasureCodeFoundData, n *loyalty.CustomerNeeds) { needTreasures(n) },
	Apply: func(r *loyalty.Run, d events.OfflineTreasureCodeFoundData) error {
		return findTreasure(r, d.TreasureID, d.Code)
	},
}
