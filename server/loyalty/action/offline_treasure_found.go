package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// offline_treasure_found finds a treasure at a place that has no code; the sender saw that it was found, such as by a
// scan.
var offlineTreasureFound = engine.Action[events.OfflineTreasureFoundData]{
	Name: "offline_treasure_found", Standing: engine.Earner,
	Needs: func(_ events.OfflineTreasureFoundData, n *loyalty.CustomerNeeds) { needTreasures(n) },
	Apply: func(r *engine.Run, d events.OfflineTreasureFoundData) error {
		// a treasure with a code is refused: it belongs to offline_treasure_code_found
		return findTreasure(r, d.TreasureID, nil)
	},
}
