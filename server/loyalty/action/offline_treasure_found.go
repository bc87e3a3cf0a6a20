package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// offline_treasure_found finds a treasure at a place: one without a code, which
// the sender saw being found, such as by a scan.
var offlineTreasureFound = engine.Action[events.OfflineTreasureFoundData]{
	Name: "offline_treasure_found", Standing: engine.Earner,
	Needs: func(_ events.OfflineTreasureFoundData, n *loyalty.CustomerNeeds) { needTreasures(n) },
	Apply: func(r *engine.Run, d events.OfflineTreasureFoundData) error {
		// without a code none fits a treasure that has one: that is the other action's
		return findTreasure(r, d.TreasureID, nil)
	},
}
