package server_test

import (
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/servertest"
)

// shownAs are the filters whose field has another name in the records, by path and
// filter; empty: it is no field of a record.
var shownAs = map[string]string{
	"/customers/-/events date": "timestamp", "/customers/{customer_id}/events date": "timestamp",
	"/v1/customers/{customer_id}/events date":    "timestamp",
	"/customers/{customer_id}/transactions date": "checkout_date",
	"/admin/requests/errors since":               "at",
	"/customers list":                            "", // who is on a list of customers
	"/customers tier":                            "", // what a tier is, a customer's levels show
}

// TestFiltersAreShown: whatever a list can be filtered by is a field that its
// records show. Reports and counts have no records; the fields of an entity are
// those of its kind.
func TestFiltersAreShown(t *testing.T) {
	lists := 0
	for _, doc := range servertest.Documents() {
		for path, item := range doc.Paths.Map() {
			if item.Get == nil || path == "/coupons/-/usage" || path == "/customers/-/count" {
				continue
			}

			filters := filtersOf(append(append(openapi3.Parameters{}, item.Parameters...), item.Get.Parameters...))
			if len(filters) == 0 {
				continue
			}

			lists++
			shown := shownBy(item.Get.Responses.Status(200).Value.Content.Get("application/json").Schema.Value.Properties["data"].Value)
			if path == "/entities/{module}/{entity}" {
				for _, kind := range []string{"Reward", "Campaign", "Offer"} {
					for name := range fieldsOf(doc.Components.Schemas[kind].Value) {
						shown[name] = true
					}
				}
			}

			for name := range filters {
				field, renamed := shownAs[path+" "+name]
				if !renamed {
					field = name
				}
				require.True(t, field == "" || shown[field], "%s: %s", path, name)
			}
		}
	}

	require.Greater(t, lists, 20)
}

// filtersOf lists what is filtered by, without operators.
func filtersOf(parameters openapi3.Parameters) map[string]bool {
	names := map[string]bool{}
	for _, ref := range parameters {
		p := ref.Value
		switch {
		case p.In != openapi3.ParameterInQuery || p.Extensions["x-filter"] != true:
		case p.Style == openapi3.SerializationDeepObject && p.Name == "filter":
			for name := range p.Schema.Value.Properties {
				names[name] = true
			}
		case p.Style != openapi3.SerializationDeepObject:
			name, _, _ := strings.Cut(p.Name, ".")
			names[name] = true
		}
	}

	return names
}

// shownBy lists the fields of a record, or of the records in a list.
func shownBy(data *openapi3.Schema) map[string]bool {
	if data.Items != nil {
		data = data.Items.Value
	}
	return fieldsOf(data)
}

func fieldsOf(s *openapi3.Schema) map[string]bool {
	names := map[string]bool{}
	for name := range s.Properties {
		names[name] = true
	}
	for _, parts := range []openapi3.SchemaRefs{s.AllOf, s.OneOf, s.AnyOf} {
		for _, part := range parts {
			for name := range fieldsOf(part.Value) {
				names[name] = true
			}
		}
	}
	return names
}
