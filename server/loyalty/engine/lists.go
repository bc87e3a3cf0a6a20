package engine

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// JoinTicket puts a customer on the operation's list. Who is on it already stays.
func JoinTicket(e *Engine, o *loyalty.BulkOperation) *Ticket { return e.membership(o.Target, false) }

// LeaveTicket takes a customer off the operation's list. Who is not on it stays off.
func LeaveTicket(e *Engine, o *loyalty.BulkOperation) *Ticket { return e.membership(o.Target, true) }

// membership is a ticket without an event. The customer's version grows with it:
// nobody gets on a list who leaves the programme or is merged at the same moment.
func (e *Engine) membership(list string, gone bool) *Ticket {
	return e.Task(func(r *Run) error {
		if r.Customer.Status == loyalty.OptedOut {
			return loyalty.ErrCustomerNotFound.At("customer")
		}
		r.work.members = append(r.work.members, loyalty.Membership{List: list, Customer: r.Customer.ID, Gone: gone})
		r.changed = true
		return nil
	})
}

// lists are the ids of the customer lists that the customer is on, as far as they
// were loaded.
func (r *Run) lists() []string {
	if r.account.loaded == nil || r.account.loaded.Lists == nil {
		return []string{}
	}
	return r.account.loaded.Lists
}
