package display

import (
	"net/http"

	"github.com/loyalty-platform/loyalty/gen/common"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
)

// stepTo is the next step of an entry: a request to a path below the customer, given in segments; nil if it would be
// refused.
func stepTo(r *engine.Run, refusal error, method string, segments ...string) *common.NextStep {
	if refusal != nil {
		return nil
	}
	return &common.NextStep{Method: method,
		URL: api.Address(append([]string{"customers", r.Customer.Name}, segments...)...)}
}

// nextStep is stepTo with POST.
func nextStep(r *engine.Run, refusal error, segments ...string) *common.NextStep {
	return stepTo(r, refusal, http.MethodPost, segments...)
}
