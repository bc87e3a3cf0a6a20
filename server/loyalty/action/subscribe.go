package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// subscribe creates an inactive profile; the customer is not opted in.
var subscribe = engine.Action[events.SubscribeData]{
	Name:    "subscribe",
	Creates: func(events.SubscribeData) bool { return true },
	Needs: func(d events.SubscribeData, n *loyalty.CustomerNeeds) {
		n.Names = d.ExternalIds.Names()
	},
	Apply: func(r *engine.Run, d events.SubscribeData) error {
		if err := refuseEnrolled(r); err != nil {
			return err
		}
		if err := r.Move("subscribe"); err != nil {
			return err
		}

		p := &r.Customer.Profile
		set(&p.Handler, &d.Handler)
		set(&p.Email, d.Email)
		set(&p.FirstName, d.FirstName)
		set(&p.LastName, d.LastName)
		if err := keepCustom(r); err != nil {
			return err
		}

		return setExternalIDs(r, d.ExternalIds)
	},
}
