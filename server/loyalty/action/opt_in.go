package action

import (
	"github.com/loyalty-platform/loyalty/gen/events"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/referral"
)

// opt_in enrols a customer: a new one, whose identifier is the submitted text, or an inactive one. An inactive profile
// with the same e-mail address is taken over.
var optIn = engine.Action[events.OptInData]{
	Name:    "opt_in",
	Creates: func(events.OptInData) bool { return true },
	Needs: func(d events.OptInData, n *loyalty.CustomerNeeds) {
		n.Names = d.ExternalIds.Names()
		if d.Referrer != nil {
			// the friend is loaded with the customer, so that an unknown one costs no second load
			n.Names = append(n.Names, loyalty.Name{Kind: loyalty.NameCustomer, Value: *d.Referrer})
		}
		// an inactive profile with this address, such as one that a transfer by e-mail began,
		// becomes the customer
		n.Email = loyalty.EmailKey(d.Email)
	},
	Apply: func(r *engine.Run, d events.OptInData) error {
		// a conflict instead of a forbidden move, because callers treat it as already done
		if err := refuseEnrolled(r); err != nil {
			return err
		}
		if err := r.Move("opt_in"); err != nil {
			return err
		}

		p := &r.Customer.Profile
		set(&p.Email, &d.Email)
		set(&p.FirstName, d.FirstName)
		set(&p.LastName, d.LastName)
		set(&p.Handler, d.Handler)
		set(&p.Language, d.Language)
		set(&p.Currency, d.Currency)
		set(&p.BirthDate, d.BirthDate)
		if err := keepCustom(r); err != nil {
			return err
		}

		if d.Referrer != nil {
			if err := referral.Refer(r, *d.Referrer); err != nil {
				return err
			}
		}

		return setExternalIDs(r, d.ExternalIds)
	},
}

// refuseEnrolled answers an opt_in or subscribe of an enrolled customer with a conflict instead of a forbidden change
// of state.
func refuseEnrolled(r *engine.Run) error {
	switch r.Customer.Status {
	case loyalty.Active, loyalty.Suspended, loyalty.Merged:
		return loyalty.ErrCustomerExists.At("customer")
	}
	return nil
}
