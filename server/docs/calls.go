package docs

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// trial is a request that a page fills its form with.
type trial struct {
	Method string `json:"method"`
	Target string `json:"target"` // path and query, percent-encoded
	Body   string `json:"body"`   // JSON; empty: none
	Once   bool   `json:"once"`   // it writes: it takes an Idempotency-Key
}

// call is an example of an operation.
type call struct {
	name string // of the example
	trial
	value any // of the body
}

var templated = regexp.MustCompile(`\{([a-z_]+)\}`)

// calls are the examples of an operation, the plainest one first.
func (o operation) calls() []call {
	once := o.Parameters.GetByInAndName("header", "Idempotency-Key") != nil
	if o.RequestBody == nil {
		return []call{{name: o.OperationID, trial: trial{Method: http.MethodGet, Target: o.target(nil)}}}
	}
	examples := o.RequestBody.Value.Content.Get("application/json").Examples
	var all []call
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		example := examples[name].Value
		own, _ := example.Extensions["x-path"].(map[string]any)
		all = append(all, call{name, trial{o.method, o.target(own), asJSON(example.Value, "  "), once}, example.Value})
	}
	return all
}

// target is the path with the examples of its parameters, or with those that an example
// of the body has of its own.
func (o operation) target(own map[string]any) string {
	values := map[string]string{}
	for _, ref := range o.parameters {
		if p := ref.Value; p.In == openapi3.ParameterInPath {
			values[p.Name] = fmt.Sprint(p.Example)
		}
	}
	for name, value := range own {
		values[name] = fmt.Sprint(value)
	}
	return templated.ReplaceAllStringFunc(o.path, func(name string) string {
		return url.PathEscape(values[strings.Trim(name, "{}")])
	})
}
