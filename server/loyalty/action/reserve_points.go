package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// reserve_points holds points as a discount for a later purchase. A second reservation for the same transaction_id adds
// to the first.
var reservePoints = engine.Action[events.ReservePointsData]{
	Name: "reserve_points", Standing: engine.Spender,
	Needs: func(d events.ReservePointsData, n *loyalty.CustomerNeeds) {
		n.Lots = loyalty.OpenLots
		n.Reservations = []string{d.TransactionID}
	},
	Check: func(d events.ReservePointsData) error { return loyalty.CheckName("transaction_id", d.TransactionID) },
	Apply: func(r *engine.Run, d events.ReservePointsData) error {
		hold, err := r.Book.Reserve(r.Event.ID, d.Points)
		if err != nil {
			return notEnough(r, d.Points)
		}
		held := r.Reservation(d.TransactionID)
		// into a new array: the rule may run again on the same loaded rows
		held.Hold = append(held.Hold[:len(held.Hold):len(held.Hold)], hold...)
		r.Event.Shown(-d.Points)
		r.Trace("reserve", "applied", "reason.reserved", -d.Points)
		return nil
	},
}
