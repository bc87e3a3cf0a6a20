package loyalty

// CustomerListType is the entity type of customer lists.
const CustomerListType = "core/customer-list"

// ProductType are products, of which the programme keeps no stock and no price.
const ProductType = "products/product"

// Membership puts a customer on a list, or takes them off it. Lists say nothing
// about points and are no part of the journal.
type Membership struct {
	List     string
	Customer ID
	Gone     bool
}

// joinTicket puts a customer on the operation's list. Who is on it already stays.
func joinTicket(e *Engine, o *BulkOperation) *ticket { return e.membership(o.Target, false) }

// leaveTicket takes a customer off the operation's list. Who is not on it stays off.
func leaveTicket(e *Engine, o *BulkOperation) *ticket { return e.membership(o.Target, true) }

// membership is a ticket without an event. The customer's version grows with it:
// nobody gets on a list who leaves the programme or is merged at the same moment.
func (e *Engine) membership(list string, gone bool) *ticket {
	return e.Task(func(r *Run) error {
		if r.Customer.Status == OptedOut {
			return ErrCustomerNotFound.At("customer")
		}
		r.work.members = append(r.work.members, Membership{list, r.Customer.ID, gone})
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
