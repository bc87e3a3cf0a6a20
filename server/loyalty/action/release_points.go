package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// release_points frees reserved points: all of them if no number is sent. Points of a lot that has expired meanwhile
// expire at once.
var releasePoints = engine.Action[events.ReleasePointsData]{
	Name: "release_points", Standing: engine.Earner,
	Needs: func(d events.ReleasePointsData, n *loyalty.CustomerNeeds) {
		n.Lots = loyalty.HeldLots
		n.Reservations = []string{d.TransactionID}
	},
	Apply: func(r *engine.Run, d events.ReleasePointsData) error {
		held := r.Reservation(d.TransactionID)
		reserved := points.Total(held.Hold)
		if reserved == 0 {
			return loyalty.ErrReservationNotFound.With("transaction_id", d.TransactionID).At("data.transaction_id")
		}

		// all of them without a number: a till that cancels need not know how many there were
		n := reserved
		if d.Points != nil {
			n = *d.Points
		}

		left, err := r.Book.Release(r.Event.ID, held.Hold, n)
		if err != nil {
			return loyalty.ErrReleaseTooMuch.With("reserved", reserved).At("data.points")
		}

		held.Hold = left
		r.Event.Shown(n)
		r.Trace("release", "applied", "reason.released", n)
		return nil
	},
}
