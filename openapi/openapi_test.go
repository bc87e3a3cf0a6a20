package openapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
)

// modules are the canonical names that x-module may hold.
var modules = strings.Fields(`points_economy incentivized_purchase checkout_accept pending_events coupons offers rewards
	tiers challenges contests prize_wheels quizzes treasure_hunt profiling friend_referral stores customer_id_validation
	customer_login custom_events custom_entities language storefront_connector visual_search automation leaderboard events_api`)

// personal are the attributes by which a person can be known again.
var personal = strings.Fields(`email first_name last_name handler birth_date gender image_url labels reason review external_ids`)

// personalTexts are the attributes that are personal in the data of some actions alone:
// texts that callers fill freely.
var personalTexts = map[string]string{
	"OptInData":        "language currency",
	"ProfileData":      "language currency",
	"VisitData":        "url referrer type",
	"VideoData":        "url network title",
	"CouponCreateData": "name",
	"ReviewSubmitData": "provider",
}

// loaded are the documents that were read; tests only look at them.
var loaded = map[string]*openapi3.T{}

func load(t *testing.T, api string) *openapi3.T {
	t.Helper()
	if loaded[api] == nil {
		doc, err := openapi.Load(api)
		require.NoError(t, err)
		loaded[api] = doc
	}
	return loaded[api]
}

// operation is one operation with the place it stands at.
type operation struct {
	*openapi3.Operation
	api, method, path string
}

func (o operation) String() string { return o.api + " " + o.method + " " + o.path }

func operations(t *testing.T) (all []operation) {
	t.Helper()
	for _, api := range openapi.Names() {
		for path, item := range load(t, api).Paths.Map() {
			for method, op := range item.Operations() {
				all = append(all, operation{op, api, method, path})
			}
		}
	}
	return all
}

func TestNames(t *testing.T) {
	require.Equal(t, []string{"administration", "automation-campaigns", "coupon", "customers", "display", "entities", "events", "leaderboard", "levels", "loyalty-read", "offers", "rewards"}, openapi.Names())
	named := load(t, "administration").Components.Schemas["ApiName"].Value.Enum
	require.Equal(t, openapi.Names(), texts(named), "the APIs a key can be limited to are the documents")
}

func TestLoadUnknown(t *testing.T) {
	for _, name := range []string{"common", "", "../common", "Events", "http://loyalty.internal/events"} {
		_, err := openapi.Load(name)
		require.Error(t, err, name)
		_, _, err = openapi.Bundle(name)
		require.Error(t, err, name)
	}
}

func TestOperationsAreDescribed(t *testing.T) {
	ids := map[string]string{}

	for _, op := range operations(t) {
		require.Contains(t, []string{http.MethodGet, http.MethodPost}, op.method, op)
		require.NotEmpty(t, op.OperationID, op)
		require.Empty(t, ids[op.OperationID], "%s: operationId %s is taken", op, op.OperationID)
		ids[op.OperationID] = op.String()
		require.NotEmpty(t, op.Summary, op)
		require.Greater(t, len(op.Description), len(op.Summary), op)
		require.NotEmpty(t, op.Tags, op)
		require.NotNil(t, op.Parameters.GetByInAndName("header", "Accept-language"), op)
		post := op.method == http.MethodPost
		writes := post && op.Extensions["x-reads"] != true // what only reads may simply be sent again
		require.Equal(t, writes, op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil, op)
		require.Equal(t, post, op.RequestBody != nil, op)
		if post {
			content := op.RequestBody.Value.Content
			require.Len(t, content, 2, op)
			asJSON, asForm := content["application/json"], content["application/x-www-form-urlencoded"]
			require.Same(t, asJSON.Schema.Value, asForm.Schema.Value, "%s: both media types have one schema", op)
		}
	}
}

func TestResponses(t *testing.T) {
	always := []string{"400", "401", "403", "429", "500", "503"}
	posts := append([]string{"409", "413", "415"}, always...)
	number := regexp.MustCompile(`^[2-5]\d\d$`)
	for _, op := range operations(t) {
		want := always
		if op.method == http.MethodPost {
			want = posts
		}

		for _, status := range want {
			if status == "409" && op.Extensions["x-reads"] == true {
				continue
			}
			require.NotNil(t, op.Responses.Value(status), "%s: %s", op, status)
		}

		succeeds := []string{}
		for status, response := range op.Responses.Map() {
			require.Regexp(t, number, status, op)
			require.NotNil(t, response.Value.Headers["X-Request-Id"], "%s %s", op, status)
			require.NotNil(t, body(response.Value), "%s %s", op, status)
			if status[0] == '2' {
				succeeds = append(succeeds, status)
			}
		}

		if slices.Sort(succeeds); op.OperationID == "addCodes" { // few at once, many as a bulk operation
			require.Equal(t, []string{"201", "202"}, succeeds)
		} else {
			require.Len(t, succeeds, 1, op)
		}
	}
}

// body is what an answer has: JSON, or lines of it or CSV where it is as long as a table.
func body(r *openapi3.Response) *openapi3.MediaType {
	if media := r.Content["application/json"]; media != nil {
		return media
	}
	if media := r.Content["application/x-ndjson"]; media != nil {
		return media
	}
	return r.Content["text/csv"]
}

// TestParameterPositions holds the router's condition: for each method one name for
// each position of a path over all documents, and no path twice. Gin panics otherwise.
func TestParameterPositions(t *testing.T) {
	names, routes := map[string]string{}, map[string]string{}
	for _, op := range operations(t) {
		position := ""
		for segment := range strings.SplitSeq(strings.TrimPrefix(op.path, "/"), "/") {
			if !strings.HasPrefix(segment, "{") {
				position += "/" + segment
				continue
			}
			position += "/{}"
			if known := names[op.method+position]; known != "" {
				require.Equal(t, known, segment, "%s: %s", op, position)
			}
			names[op.method+position] = segment
			require.NotNil(t, op.Parameters.GetByInAndName("path", strings.Trim(segment, "{}")), op)
		}

		route := op.method + " " + position
		require.Empty(t, routes[route], "%s is served by two documents", route)
		routes[route] = op.api
	}
}

func TestExamples(t *testing.T) {
	for _, op := range operations(t) {
		doc := load(t, op.api)
		for _, p := range op.Parameters {
			require.NotEmpty(t, p.Value.Description, "%s: %s", op, p.Value.Name)
			require.NotNil(t, p.Value.Example, "%s: %s", op, p.Value.Name)
			require.NoError(t, visit(doc, p.Value.Schema.Value, p.Value.Example), "%s: %s", op, p.Value.Name)
		}

		if op.RequestBody != nil {
			for name, media := range op.RequestBody.Value.Content {
				checkExamples(t, doc, media, op.String()+" "+name, openapi3.VisitAsRequest())
			}
		}

		for status, response := range op.Responses.Map() {
			checkExamples(t, doc, body(response.Value), op.String()+" "+status, openapi3.VisitAsResponse())
		}
	}
}

func checkExamples(t *testing.T, doc *openapi3.T, media *openapi3.MediaType, where string, as openapi3.SchemaValidationOption) {
	t.Helper()
	require.NotEmpty(t, media.Examples, where)
	for name, example := range media.Examples {
		require.NotEmpty(t, example.Value.Summary, "%s: %s", where, name)
		require.NoError(t, visit(doc, media.Schema.Value, example.Value.Value, as), "%s: %s", where, name)
	}
}

// TestSchemas looks at every property of every document.
func TestSchemas(t *testing.T) {
	for _, api := range openapi.Names() {
		doc := load(t, api)
		eachSchema(doc, func(path string, s *openapi3.Schema) {
			where := api + " " + path
			if module, ok := s.Extensions["x-module"]; ok {
				require.Contains(t, modules, module, where)
			}
			if s.Example != nil {
				require.NoError(t, visit(doc, s, s.Example), where)
			}

			for _, name := range s.Required {
				require.NotNil(t, property(s, name), "%s: required %s is not declared", where, name)
			}

			for name := range s.Extensions {
				require.False(t, strings.HasPrefix(name, "x-go-"), "%s: %s belongs into the overlay", where, name)
			}

			for name, p := range s.Properties {
				require.NotEmpty(t, p.Value.Description, "%s: %s", where, name)
			}
		})
	}
}

// TestModuleConfigs: each configuration says which module it is of, and the
// schema that stands for all of them holds every one.
func TestModuleConfigs(t *testing.T) {
	schemas := load(t, "administration").Components.Schemas
	names := texts(schemas["ModuleName"].Value.Enum)
	require.True(t, slices.IsSorted(names))
	for _, name := range names {
		require.Contains(t, modules, name)
	}

	var parts []*openapi3.Schema
	for _, part := range schemas["ModuleConfig"].Value.AllOf {
		parts = append(parts, part.Value)
	}

	seen := map[string]string{}
	for name, ref := range schemas {
		of, ok := ref.Value.Extensions["x-config-of"].(string)
		if !ok {
			continue
		}
		require.Contains(t, names, of)
		require.True(t, slices.Contains(parts, ref.Value), name)
		for p := range ref.Value.Properties {
			require.Empty(t, seen[p], "%s of %s is ambiguous", p, name)
			seen[p] = name
		}
		parts = slices.DeleteFunc(parts, func(s *openapi3.Schema) bool { return s == ref.Value })
	}

	require.Empty(t, parts)
}

func TestBundle(t *testing.T) {
	for _, api := range openapi.Names() {
		asYAML, asJSON, err := openapi.Bundle(api)
		require.NoError(t, err)
		for form, content := range map[string][]byte{"yaml": asYAML, "json": asJSON} {
			require.False(t, bytes.Contains(content, []byte("common.yaml")), "%s.%s refers to another file", api, form)
			bundle, err := openapi3.NewLoader().LoadFromData(content) // external references are refused
			require.NoError(t, err, "%s.%s", api, form)
			require.NoError(t, bundle.Validate(context.Background()), "%s.%s", api, form)
			require.Equal(t, load(t, api).Paths.Keys(), bundle.Paths.Keys())
			require.NotNil(t, bundle.Components.Schemas["ErrorEnvelope"], "%s.%s", api, form)
			if api == "events" {
				require.Len(t, bundle.Components.Schemas["Event"].Value.Discriminator.Mapping, len(actions))
			}
		}
	}
}

// TestBundleJSON: it is the same document, with bodies in JSON alone.
func TestBundleJSON(t *testing.T) {
	for _, api := range openapi.Names() {
		_, whole, err := openapi.Bundle(api)
		require.NoError(t, err)
		asYAML, asJSON, err := openapi.BundleJSON(api)
		require.NoError(t, err)
		for _, content := range [][]byte{asYAML, asJSON} {
			bundle, err := openapi3.NewLoader().LoadFromData(content)
			require.NoError(t, err, api)
			require.NoError(t, bundle.Validate(context.Background()), api)
			for path, item := range bundle.Paths.Map() {
				if op := item.Post; op != nil {
					body := op.RequestBody.Value.Content
					require.Equal(t, []string{"application/json"}, slices.Collect(maps.Keys(body)), "%s %s", api, path)
				}
			}
			original, err := openapi3.NewLoader().LoadFromData(whole)
			require.NoError(t, err)
			require.Equal(t, original.Paths.Keys(), bundle.Paths.Keys())
			require.Len(t, bundle.Components.Schemas, len(original.Components.Schemas))
		}

		require.False(t, bytes.Contains(asJSON, []byte(`urlencoded":`)), api)
	}

	_, _, err := openapi.BundleJSON("common")
	require.Error(t, err)
}

// TestEnumerationsHaveNames: generators make constants of the values of an enumeration. Values that are no identifiers, of which
// some generators make none or the same twice, have names besides; so has every other value of that enumeration.
func TestEnumerationsHaveNames(t *testing.T) {
	identifier := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	named := 0
	var look func(at string, v any)
	look = func(at string, v any) {
		switch v := v.(type) {
		case []any:
			for i, one := range v {
				look(fmt.Sprint(at, "/", i), one)
			}

		case map[string]any:
			for name, one := range v {
				look(at+"/"+name, one)
			}

			values, _ := v["enum"].([]any)
			if !slices.ContainsFunc(values, func(one any) bool { text, ok := one.(string); return !ok || !identifier.MatchString(text) }) {
				return
			}

			names, _ := v["x-enum-varnames"].([]any)
			require.Len(t, names, len(values), at)
			seen := map[string]bool{}
			for _, name := range names {
				text := fmt.Sprint(name)
				require.Regexp(t, identifier, text, at)
				require.False(t, seen[strings.ToLower(text)], "%s: %s is there twice", at, text)
				seen[strings.ToLower(text)] = true
			}

			named++
		}
	}

	for _, api := range openapi.Names() {
		_, asJSON, err := openapi.Bundle(api)
		require.NoError(t, err)
		var doc any
		require.NoError(t, json.Unmarshal(asJSON, &doc))
		look(api, doc)
	}

	require.GreaterOrEqual(t, named, 6)
}

// TestEveryOperationHasARole: the least role of a user who may use an operation stands in
// its document; the list names the operations for which it is not decided yet.
func TestEveryOperationHasARole(t *testing.T) {
	var without []string
	for _, op := range operations(t) {
		role, _ := op.Extensions["x-role"].(string)
		if !slices.Contains([]string{"viewer", "editor", "operator", "owner"}, role) {
			without = append(without, op.OperationID+" ("+op.String()+")")
		}
	}
	slices.Sort(without)
	require.Empty(t, without, "these operations need x-role: viewer, editor, operator or owner")
}
