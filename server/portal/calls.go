package portal

import (
	"maps"
	"net/http"
	"slices"

	"github.com/loyalty-platform/loyalty/openapi"
)

// trial is a request for the form of a page.
type trial struct {
	Method string `json:"method"`
	Target string `json:"target"` // path and query, percent-encoded
	Body   string `json:"body"`   // JSON; empty: none
	Once   bool   `json:"once"`   // it writes, so it takes an Idempotency-Key
}

// call is an example of an operation.
type call struct {
	name string // of the example
	trial
	value any // of the body
}

// calls are the examples of an operation, the simplest one first.
func (o operation) calls() []call {
	once := o.Parameters.GetByInAndName("header", "Idempotency-Key") != nil
	if o.RequestBody == nil {
		return []call{{name: o.OperationID,
			trial: trial{Method: http.MethodGet, Target: openapi.ExamplePath(o.path, o.parameters, nil)}}}
	}
	examples := o.RequestBody.Value.Content.Get("application/json").Examples
	var all []call
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		example := examples[name].Value
		own, _ := example.Extensions["x-path"].(map[string]any)
		all = append(all, call{name,
			trial{o.method, openapi.ExamplePath(o.path, o.parameters, own), asJSON(example.Value, "  "), once}, example.Value})
	}
	return all
}
