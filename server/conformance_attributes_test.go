package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// specified is one attribute of an action, as the specification lists it.
type specified struct {
	action, name, kind, module string
	required                   bool
}

var specifiedAttribute = regexp.MustCompile(`(?m)^attribute\.\S+\t(\w+): (\w+): (.+?), ([RO]), ([^.(]+?)(?: \(.*\))?\.$`)

// specifiedAttributes gives the rows of every action that can be submitted.
func specifiedAttributes(t *testing.T) map[string][]specified {
	text, err := os.ReadFile("../openapi/specification.tsv")
	require.NoError(t, err)
	rows, n := map[string][]specified{}, 0
	for _, m := range specifiedAttribute.FindAllStringSubmatch(string(text), -1) {
		rows[m[1]] = append(rows[m[1]], specified{action: m[1], name: m[2], kind: m[3], required: m[4] == "R", module: m[5]})
		n++
	}
	require.Equal(t, strings.Count(string(text), "\nattribute."), n, "a row that cannot be read")
	return rows
}

// moduleNames are the modules under the names that the specification gives them.
var moduleNames = map[string]string{
	"checkout_accept": "checkout_accept", "store": "stores", "coupon": "coupons", "coupons": "coupons", "offers": "offers",
	"pending events": "pending_events", "storefront connector": "storefront_connector", "customer ID validation": "customer_id_validation", "friend referral": "friend_referral",
}

// goodValues are values of attributes for which the example of their action has
// none, where any value of the kind will not do.
var goodValues = map[string]string{
	"checkout.items":            `[{"product_id":"p-1","product_name":"Tea","product_url":"https://shop.test/p/1","quantity":1,"subtotal":5}]`,
	"checkout.points_burned":    `1`,
	"checkout.coupon_code":      `"TILL-1"`,
	"checkout.coupons":          `["TILL-1"]`,
	"checkout.offers":           `["coffee-3-for-2"]`,
	"checkout_update.items":     `[]`,
	"coupon_create.amount":      `10`,
	"coupon_create.pool":        `"codes"`,
	"coupon_redeem.amount":      `1`,
	"coupon_transfer.target":    `"member-2"`,
	"coupon_transfer.email":     `"member-2@shop.test"`,
	"coupon_transfer.reward_id": `"coffee-voucher"`,
	"reward_transfer.target":    `"member-2"`,
	"reward_transfer.email":     `"member-2@shop.test"`,
	"opt_in.referrer":           `"member-2"`,
	"profile.email":             `"member-1001@shop.test"`,
	"subscribe.email":           `"member-1004@shop.test"`,
	"opt_in.birth_date":         `"1990-05-17"`,
	"profile.birth_date":        `"1990-05-17"`,
	"profile.image_url":         `"https://shop.test/a.png"`,
	"release_points.points":     `1`,
	"visit.referrer":            `"https://shop.test/"`,
}

// goodOfKind and badOfKind are values that a kind of attribute takes, and refuses.
var (
	goodOfKind = map[string]string{
		"string": `"x-1"`, "integer": `2`, "number": `1.5`, "numeric": `1.5`, "date": `"2126-03-20"`, "boolean": `true`, "array": `["x-1"]`,
		"array of strings": `["x-1"]`, "selection": `"amount"`, "-": `"x-1"`,
	}
	badOfKind = map[string]string{
		"string": `{"a":1}`, "integer": `1.5`, "number": `"many"`, "numeric": `"many"`, "date": `"2126-02-30"`, "boolean": `"perhaps"`, "array": `{"a":1}`,
		"array of strings": `{"a":1}`, "array of line items": `{"a":1}`, "selection": `"nonsense"`,
	}
)

// instead are properties that leave the example when another one is tried, because
// one event cannot have both.
var instead = map[string][]string{
	"coupon_create.amount": {"type"}, "coupon_transfer.reward_id": {"code"}, "checkout.coupons": {"coupon_code"},
}

// either are attributes of which an action needs one: the other one, as it is sent
// when the first is left out.
var either = map[string][2]string{
	"coupon_transfer.code": {"reward_id", `"coffee-voucher"`}, "reward_transfer.target": {"email", `"member-2@shop.test"`},
}

// demanded are attributes that are optional by their row and that the thing in the
// example needs: a treasure with a code.
var demanded = []string{"offline_treasure_code_found.code"}

// outliving are attributes by which what waits is ended, also when its module was
// switched off meanwhile.
var outliving = []string{"checkout_accept.transaction_id", "checkout_reject.transaction_id"}

// TestAttributesOfTheSpecification tries every attribute of every action, by its
// row, where the story of the examples is when the example of the action works: it
// is taken with a value of its kind and refused with another, required ones are
// missed by their name and optional ones are not, and what needs a module is
// refused without it. Previews decide it, so that the story goes on undisturbed.
//
// spec: attribute.*, error.empty, event.module-gate, event.data
func TestAttributesOfTheSpecification(t *testing.T) {
	rows, examples := specifiedAttributes(t), eventExamples(t)
	require.Equal(t, slices.Sorted(maps.Keys(examples)), slices.Sorted(maps.Keys(rows)), "every action of the document has rows, and no other")
	last := map[string]int{}
	for i, step := range exampleStory {
		last[step.action] = i
	}

	last["checkout"] = slices.IndexFunc(exampleStory, func(s tale) bool { return s.action == "checkout_accept" }) + 1
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("member-2")
		for _, piece := range examplePieces {
			done(h, piece[0], piece[1])
		}

		done(h, "/entities/coupons/pool", `{"id":"codes","name":"Codes","source":"uploaded","coupon":{"type":"amount","value":5}}`)
		for i, step := range exampleStory {
			text := strings.NewReplacer(step.names...).Replace(examples[step.action])
			if step.before != nil {
				text = exampleEvent.ReplaceAllString(text, step.before(h, "1001"))
			}
			if step.action == "coupon_transfer" {
				claimedReward(h, "1001")
			}

			if last[step.action] == i {
				for _, row := range rows[step.action] {
					t.Run(row.action+"."+row.name, func(t *testing.T) { h.tries(t, row, text) })
				}
			}

			done(h, "/events", text)
			if step.action == "offer_unredeem" {
				done(h, "/events", `{"customer":"member-1001","action":"coupon_create","data":{"code":"TILL-1","value":2}}`)
			}
		}
	})
}

// tries holds one attribute against its row; text is an event that would work now.
func (h *house) tries(t *testing.T, row specified, text string) {
	full := row.action + "." + row.name
	event := func(value string, without ...string) string {
		var e struct {
			Customer   string                     `json:"customer"`
			ExternalID string                     `json:"external_id,omitempty"`
			Action     string                     `json:"action"`
			Data       map[string]json.RawMessage `json:"data"`
		}

		require.NoError(t, json.Unmarshal([]byte(text), &e))
		if other := either[full]; value == "" && other[0] != "" {
			e.Data[other[0]] = json.RawMessage(other[1])
		}

		if value == "" {
			delete(e.Data, row.name)
		} else if _, shown := e.Data[row.name]; !shown || !slices.Contains([]string{goodValues[full], goodOfKind[row.kind]}, value) {
			e.Data[row.name] = json.RawMessage(value)
		}

		for _, name := range without {
			delete(e.Data, name)
		}

		written, err := json.Marshal(e)
		require.NoError(t, err)
		return string(written)
	}

	good := goodValues[full]
	if good == "" {
		good = goodOfKind[row.kind]
	}

	taken := event(good, instead[full]...)
	module := moduleNames[row.module]
	if module != "" {
		done(h, "/admin/modules/"+module, `{"enabled":true}`)
		defer done(h, "/admin/modules/"+module, `{"enabled":true}`)
	}

	a := h.does("/events/preview", taken)
	require.NotContains(t, a.json(t), "error", "%s: %s", taken, a.body)

	if bad := badOfKind[row.kind]; bad != "" {
		a = h.post("/events/preview", event(bad, instead[full]...))
		require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", event(bad), a.body)
		require.True(t, slices.ContainsFunc(a.fault(t).fields(), func(f string) bool { return strings.HasPrefix(f, "data."+row.name) }), a.body)
	}

	missing := "Property " + row.name + " cannot be empty"
	a = h.post("/events/preview", event(""))
	if row.required {
		require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", event(""), a.body)
		require.Equal(t, fmt.Sprint(0, missing), fmt.Sprint(a.fault(t).Code, a.fault(t).Message), event(""))
	} else if !slices.Contains(demanded, full) {
		require.NotContains(t, a.body, missing, event(""))
	}

	if module != "" {
		done(h, "/admin/modules/"+module, `{"enabled":false}`)
		a = h.does("/events/preview", taken)
		if slices.Contains(outliving, full) {
			require.NotContains(t, a.json(t), "error", a.body)
			return
		}
		refusal, _ := a.json(t)["error"].(map[string]any)
		require.Contains(t, []string{"190042", "190043"}, fmt.Sprint(refusal["code"]), "%s without %s, of the attribute or of the action: %s", taken, module, a.body)
		require.Contains(t, refusal["message"], module)
	}
}
