package action

import (
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// verify_customer records that the customer's identity was verified. It has no effect besides the event.
var verifyCustomer = engine.Action[struct{}]{
	Name:  "verify_customer",
	Apply: func(*engine.Run, struct{}) error { return nil },
}
