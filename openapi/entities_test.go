package openapi_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// entityModules holds the module that an entity needs; empty: none.
var entityModules = map[string]string{
	"rewards/reward": "rewards", "coupons/pool": "coupons", "offers/offer": "offers",
	"tiers/structure": "tiers", "tiers/tier": "tiers", "challenges/challenge": "challenges", "contests/contest": "contests",
	"prize-wheels/wheel": "prize_wheels", "quizzes/quiz": "quizzes", "treasure-hunt/treasure": "treasure_hunt",
	"profiling/flow": "profiling", "products/product": "", "stores/store": "stores", "segments/segment": "",
	"core/customer-list": "", "automation/campaign": "automation", "custom-events/action": "custom_events",
	"custom-entities/attribute": "custom_entities", "custom/{kind}": "custom_entities",
}

// TestEntities: every entity has a schema that keeps attributes of the caller's
// own, needs the module it belongs to, and has an example that fits it.
func TestEntities(t *testing.T) {
	doc := load(t, "entities")
	named := doc.Extensions["x-entities"].(map[string]any)
	require.ElementsMatch(t, slices.Collect(maps.Keys(entityModules)), slices.Collect(maps.Keys(named)))
	examples := doc.Paths.Value("/entities/{module}/{entity}").Post.RequestBody.Value.Content["application/json"].Examples
	require.Len(t, examples, len(named))
	var bodies []*openapi3.Schema
	for _, ref := range doc.Components.Schemas["EntityCreation"].Value.AnyOf {
		bodies = append(bodies, ref.Value)
	}

	require.Len(t, bodies, len(named))
	for kind, name := range named {
		t.Run(kind, func(t *testing.T) {
			ref := doc.Components.Schemas[name.(string)]
			require.NotNil(t, ref)
			require.Contains(t, bodies, ref.Value)
			require.NotEmpty(t, ref.Value.Description)
			require.Equal(t, kind != "custom/{kind}", len(ref.Value.Required) > 0)
			require.Equal(t, "custom", ref.Value.Extensions["x-extra"])
			require.True(t, *ref.Value.AdditionalProperties.Has)
			module, _ := ref.Value.Extensions["x-module"].(string)
			require.Equal(t, entityModules[kind], module)

			example := examples[name.(string)]
			require.NotNil(t, example)
			fields := maps.Clone(example.Value.Value.(map[string]any))
			require.NotEmpty(t, fields["id"])
			delete(fields, "id")
			require.NoError(t, visit(doc, ref.Value, fields))
			for property := range fields {
				if !strings.HasPrefix(property, "cf_") {
					require.NotNil(t, ref.Value.Properties[property], property)
				}
			}
		})
	}
}

// anyModules are the operations that work whatever is switched on.
var anyModules = []string{
	"listActivities", "listCustomerEvents", "listEvents", "listTransactions", "getTransaction", "listTransactionEvents",
	"searchTransactions", "searchTransactionsByPost",
}

// TestOperationsNeedTheirModule: what is served only with a module says which.
func TestOperationsNeedTheirModule(t *testing.T) {
	for _, op := range operations(t) {
		module, marked := op.Extensions["x-module"]
		switch op.api {
		case "display", "coupon", "rewards":
			require.True(t, marked || slices.Contains(anyModules, op.OperationID), op)
		}
		if marked {
			require.Contains(t, modules, module, op)
			require.NotNil(t, op.Responses.Value("404"), op)
		}
	}
}
