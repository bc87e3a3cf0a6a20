package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// offline_treasure_found finds a treasure at a place: one without a code, which
// the sender saw being found, such as by a scan.
var offlineTreasureFound = loyalty.Action[events.OfflineTreasureFoundData]{
	Name: "offline_treasure_found", Standing: loyalty.Earner,
	Needs: func(_ events.OfflineTreasureFoundData, n *loyalty.CustomerNeeds) { needTreasures(n) },
	Apply: func(r *loyalty.Run, d events.OfflineTreasureFoundData) error {
		return findTreasure(r, d.TreasureID, nil)
	},
}
