package action

import (
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// verify_customer records that the customer proved who they are. The event is all
// there is to it.
var verifyCustomer = engine.Action[struct{}]{
	Name:  "verify_customer",
	Apply: func(*engine.Run, struct{}) error { return nil },
}
