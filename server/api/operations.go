package api

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/list"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Operation is one operation of a document, prepared for validation.
type Operation struct {
	API           string                         // name of the document
	Module        string                         // x-module: must be on, or the operation does not exist
	Reads         bool                           // GET, and operations marked x-reads: it changes nothing
	Role          loyalty.Role                   // x-role: the lowest role of a user who may call it
	Confirm       bool                           // x-confirm: the user must have proved the identity recently
	Personal      string                         // x-personal-when: only with this query parameter does an answer name persons
	NeedsPersonal bool                           // x-personal-needed: not for users who may not see personal data
	When          confirmation                   // x-confirm-when: the same for some bodies only
	BodyLimit     int                            // x-body-limit, in bytes; 0: the default
	Route         *routers.Route                 // for kin-openapi
	Parameters    map[string]bool                // query parameters; true: may be repeated
	Filters       map[string]*openapi3.Parameter // query parameters marked x-filter
	Fields        map[string]list.Field          // the fields to filter the list by, from filters.yaml
	Bracketed     *list.Brackets                 // filter and sort in brackets; nil: the operation has none
	Custom        string                         // x-custom: type whose declared attributes are filters as well, such as rewards/reward
	Checked       []*openapi3.Parameter
	Body          *contract.Schema // nil: the operation takes none
	Turns         *Gate            // the gate to wait at before the body is read; nil: none
	Light         *Gate            // the gate for bodies up to LightBody; nil: the same gate
	Keeps         bool             // answers are stored for an Idempotency-Key, refusals too
	// FromTree: the handlers read the checked tree, so that the hot path does not encode an event only to decode it
	// again.
	FromTree bool
}

// IdempotencyHeader makes a write repeatable without a second effect.
const IdempotencyHeader = "Idempotency-Key"

// RouteKey finds an operation by gin's match: there is one routing decision, and no second router that could see
// another path.
type RouteKey struct{ Method, Path string }

var pathParameter = regexp.MustCompile(`\{([a-z_]+)\}`)

// ginPath writes a path of a document in gin's form: {customer_id} becomes :customer_id.
func ginPath(path string) string { return pathParameter.ReplaceAllString(path, ":$1") }

// OperationsOf prepares the operations of all documents. It fails if a schema cannot be walked or two documents have
// the same operation.
func OperationsOf(documents []contract.Document) (map[RouteKey]*Operation, error) {
	all := map[RouteKey]*Operation{}
	filters, err := contract.Filters()
	if err != nil {
		return nil, err
	}

	for _, d := range documents {
		c := contract.NewCompiler()
		for path, item := range d.Spec.Paths.Map() {
			for method, op := range item.Operations() {
				key := RouteKey{method, ginPath(path)}
				if all[key] != nil {
					return nil, fmt.Errorf("%s: %s %s is in another document too", d.API, method, path)
				}

				o, err := newOperation(c, op)
				if err != nil {
					return nil, fmt.Errorf("%s: %s %s: %w", d.API, method, path, err)
				}

				o.Fields = fieldsOfFilters(filters[d.API].Of(op.OperationID))
				o.API, o.FromTree = d.API, d.API == "events" && o.Body != nil
				o.Reads = o.Reads || method == http.MethodGet
				o.Route = &routers.Route{Spec: d.Spec, Path: path, PathItem: item, Method: method, Operation: op}
				if err := o.addParameters(append(slices.Clone(item.Parameters), op.Parameters...)); err != nil {
					return nil, fmt.Errorf("%s: %s %s: %w", d.API, method, path, err)
				}

				all[key] = o
			}
		}
	}

	return all, nil
}

func newOperation(c *contract.Compiler, op *openapi3.Operation) (o *Operation, err error) {
	o = &Operation{Parameters: map[string]bool{}, Filters: map[string]*openapi3.Parameter{}}
	o.Module, _ = op.Extensions["x-module"].(string)
	o.Reads, _ = op.Extensions["x-reads"].(bool)
	role, _ := op.Extensions["x-role"].(string)
	if !loyalty.IsRole(role) {
		return nil, fmt.Errorf("x-role %q is no role", role)
	}

	o.Role = loyalty.Role(role)
	o.Confirm, _ = op.Extensions["x-confirm"].(bool)
	o.Personal, _ = op.Extensions["x-personal-when"].(string)
	o.NeedsPersonal, _ = op.Extensions["x-personal-needed"].(bool)
	o.When = confirmationOf(op.Extensions["x-confirm-when"])
	o.Custom, _ = op.Extensions["x-custom"].(string)
	if limit, ok := op.Extensions["x-body-limit"].(float64); ok {
		o.BodyLimit = int(limit)
	}
	if op.RequestBody == nil || op.RequestBody.Value == nil {
		return o, nil
	}

	media := op.RequestBody.Value.Content.Get("application/json")
	if media == nil {
		return nil, fmt.Errorf("the body has no application/json")
	}

	o.Body, err = c.Compile(media.Schema)
	return o, err
}

func (o *Operation) addParameters(parameters openapi3.Parameters) error {
	for _, ref := range parameters {
		p := ref.Value
		switch p.In {
		case openapi3.ParameterInQuery:
			if p.Style == openapi3.SerializationDeepObject {
				if o.Bracketed == nil {
					o.Bracketed = list.NewBrackets()
				}
				if err := o.Bracketed.Add(p); err != nil {
					return err
				}
				continue
			}
			o.Parameters[p.Name] = isRepeatable(p)
			if p.Extensions["x-filter"] == true { // declared with a maximal length, as a test checks
				o.Filters[p.Name] = p
				continue // any text up to that length: an unreadable one finds nothing
			}

		case openapi3.ParameterInHeader:
			name := http.CanonicalHeaderKey(p.Name)
			o.Keeps = o.Keeps || name == IdempotencyHeader
			if name == "Accept-Language" || name == IdempotencyHeader {
				continue // read by the middleware itself
			}
		}

		o.Checked = append(o.Checked, p)
	}

	return nil
}

// isRepeatable reports whether a parameter is a list that is written by repeating it, a=1&a=2.
func isRepeatable(p *openapi3.Parameter) bool {
	return p.Schema != nil && p.Schema.Value.Type.Is("array") && (p.Explode == nil || *p.Explode)
}

// filterKinds are the kinds of filters.yaml.
var filterKinds = map[string]list.Kind{
	"text": list.Text, "texts": list.Text, "id": list.Text, "ids": list.Text,
	"choice": list.Choice, "integer": list.Integer, "instant": list.Instant,
}

// fieldsOfFilters returns filters as fields, by their names in the query.
func fieldsOfFilters(filters []openapi.Filter) map[string]list.Field {
	fields := make(map[string]list.Field, len(filters))
	for _, f := range filters {
		fields[f.Name] = list.Field{
			Kind: filterKinds[f.Kind], Choices: f.Choices, List: f.Kind == "texts" ||
				f.Kind == "ids", ID: f.Kind == "id" || f.Kind == "ids",
		}
	}
	return fields
}

// FieldsNamed are the fields to filter the list of an operation by; nil for an unknown operationId.
func FieldsNamed(operations map[RouteKey]*Operation, operationID string) map[string]list.Field {
	for _, o := range operations {
		if o.Route.Operation.OperationID == operationID {
			return o.Fields
		}
	}
	return nil
}

// Longest is how many characters each text of a filter may have.
func Longest(filter *openapi3.Schema) int {
	if filter.Items != nil {
		filter = filter.Items.Value
	}
	return int(*filter.MaxLength)
}

// confirmation describes bodies that need a proof of identity, and perhaps a higher role: those with a property that
// has one of some values.
type confirmation struct {
	Property string
	Values   []string
	Role     loyalty.Role
}

func confirmationOf(extension any) (c confirmation) {
	v, _ := extension.(map[string]any)
	c.Property, _ = v["property"].(string)
	role, _ := v["role"].(string)
	c.Role = loyalty.Role(role)
	values, _ := v["values"].([]any)
	for _, value := range values {
		text, _ := value.(string)
		c.Values = append(c.Values, text)
	}
	return c
}
