package action

import "github.com/loyalty-platform/loyalty/server/loyalty"

// verify_customer records that the customer proved who they are. The event is all
// there is to it.
var verifyCustomer = loyalty.Action[struct{}]{
	Name:  "verify_customer",
	Apply: func(*loyalty.Run, struct{}) error { return nil },
}
