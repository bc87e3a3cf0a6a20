package openapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/gen/events"
)

// actions holds, for each action, its required attributes in the order of the
// specification, which is the order in which "cannot be empty" is reported.
var actions = map[string]string{
	"challenge_reset":             "challenge",
	"checkout":                    "transaction_id total",
	"checkout_accept":             "transaction_id",
	"checkout_claim":              "transaction_id",
	"checkout_reject":             "transaction_id",
	"checkout_update":             "transaction_id total",
	"contest_entry_revoke":        "",
	"coupon":                      "code",
	"coupon_create":               "code value",
	"coupon_invalidate":           "code",
	"coupon_redeem":               "code",
	"coupon_transfer":             "",
	"coupon_unredeem":             "code",
	"offer_redeem":                "offer",
	"offer_unredeem":              "offer",
	"offline_treasure_code_found": "treasure_id",
	"offline_treasure_found":      "treasure_id",
	"opt_in":                      "email",
	"opt_out":                     "",
	"partial_refund":              "transaction_id amount",
	"pending_expired":             "points",
	"pending_invalidate":          "event",
	"pending_validate":            "event",
	"point_add":                   "points",
	"point_spend":                 "points",
	"point_sub":                   "points",
	"point_unspend":               "points",
	"profile":                     "",
	"refund":                      "transaction_id",
	"refund_item":                 "transaction_id product_id",
	"release_points":              "transaction_id",
	"reserve_points":              "transaction_id points",
	"review":                      "item_id",
	"review_submit":               "item review",
	"reward_revoke":               "event",
	"reward_transfer":             "",
	"subscribe":                   "handler",
	"suspend":                     "",
	"treasure_found":              "treasure_id",
	"unassign_coupon":             "",
	"unsuspend":                   "",
	"video":                       "url",
	"visit":                       "url",
}

// deprecated actions go on working and answer with a Deprecation header.
var deprecated = []string{"coupon", "review"}

// gated holds the attributes that need a module, as action.attribute; an action
// alone needs it as a whole.
var gated = map[string]string{
	"opt_in.referrer":                     "friend_referral",
	"checkout.total_quantity":             "checkout_accept",
	"checkout.points_rewarded":            "checkout_accept",
	"checkout.store":                      "stores",
	"checkout.coupon_code":                "coupons",
	"checkout.coupons":                    "coupons",
	"checkout.offers":                     "offers",
	"checkout.purchase_date_timestamp":    "storefront_connector",
	"checkout.computed_total_quantity":    "storefront_connector",
	"checkout.shipping_shop_money_amount": "storefront_connector",
	"checkout_accept":                     "checkout_accept",
	"checkout_accept.transaction_id":      "checkout_accept",
	"checkout_reject":                     "checkout_accept",
	"checkout_reject.transaction_id":      "checkout_accept",
	"checkout_update":                     "checkout_accept",
	"checkout_update.transaction_id":      "checkout_accept",
	"checkout_update.total":               "checkout_accept",
	"checkout_update.store":               "stores",
	"challenge_reset":                     "challenges",
	"checkout_claim":                      "customer_id_validation",
	"contest_entry_revoke":                "contests",
	"coupon":                              "coupons",
	"coupon_create":                       "coupons",
	"coupon_invalidate":                   "coupons",
	"coupon_redeem":                       "coupons",
	"coupon_transfer":                     "coupons",
	"coupon_unredeem":                     "coupons",
	"offer_redeem":                        "offers",
	"offer_unredeem":                      "offers",
	"pending_expired":                     "pending_events",
	"pending_invalidate":                  "pending_events",
	"pending_validate":                    "pending_events",
	"reward_revoke":                       "rewards",
	"reward_transfer":                     "rewards",
	"unassign_coupon":                     "coupons",
}

func TestActions(t *testing.T) {
	doc := load(t, "events")
	event := doc.Components.Schemas["Event"].Value
	post := doc.Paths.Value("/events").Post.RequestBody.Value.Content["application/json"]
	require.Len(t, event.OneOf, len(actions))
	require.Len(t, event.Discriminator.Mapping, len(actions))
	require.Len(t, post.Examples, len(actions))
	for action, required := range actions {
		t.Run(action, func(t *testing.T) {
			envelope := doc.Components.Schemas[camel(action)+"Event"].Value
			require.NotEmpty(t, envelope.Title)
			require.NotEmpty(t, envelope.Description)
			require.Equal(t, slices.Contains(deprecated, action), envelope.Deprecated)
			require.Equal(t, envelope.Deprecated, envelope.Extensions["x-deprecated-since"] != nil)
			require.Equal(t, action == "checkout", envelope.Properties["guest"] != nil)
			require.Equal(t, []string{"customer", "action", "data"}, envelope.Required)
			require.Equal(t, []any{action}, envelope.Properties["action"].Value.Enum)
			require.Equal(t, "#/components/schemas/"+camel(action)+"Event", event.Discriminator.Mapping[action].Ref)

			data := doc.Components.Schemas[camel(action)+"Data"].Value
			require.Same(t, data, envelope.Properties["data"].Value)
			require.Equal(t, strings.Fields(required), append([]string{}, data.Required...))
			require.True(t, *data.AdditionalProperties.Has)
			require.Equal(t, extra(action), data.Extensions["x-extra"])
			require.NotNil(t, data.Properties["effective_timestamp"])

			require.NotNil(t, post.Examples[action])
			example := post.Examples[action].Value.Value.(map[string]any)
			require.Equal(t, action, example["action"])
		})
	}
}

func TestGatedAttributes(t *testing.T) {
	found := map[string]string{}
	doc := load(t, "events")
	for action := range actions {
		data := doc.Components.Schemas[camel(action)+"Data"].Value
		if module, ok := data.Extensions["x-module"]; ok {
			found[action] = module.(string)
		}
		for name, p := range data.Properties {
			if module, ok := p.Value.Extensions["x-module"]; ok {
				found[action+"."+name] = module.(string)
			}
		}
	}

	require.Equal(t, gated, found)
}

func TestPersonalAttributes(t *testing.T) {
	for _, api := range []string{"events", "customers"} {
		doc := load(t, api)
		verdict := doc.Components.Schemas["RuleVerdict"] // its reason is the rule's
		more := map[*openapi3.Schema][]string{}
		for schema, names := range personalTexts {
			if ref := doc.Components.Schemas[schema]; ref != nil {
				more[ref.Value] = strings.Fields(names)
			}
		}

		eachSchema(doc, func(path string, s *openapi3.Schema) {
			if verdict != nil && s == verdict.Value {
				return
			}
			for name, p := range s.Properties {
				marked, _ := p.Value.Extensions["x-personal"].(bool)
				want := slices.Contains(personal, name) || slices.Contains(more[s], name)
				require.Equal(t, want, marked, "%s %s: %s", api, path, name)
			}
		})
	}
}

// internalAction is what the document says of an action that the platform
// writes.
type internalAction struct {
	WrittenBy   string           `json:"written_by"`
	Description string           `json:"description"`
	Data        *openapi3.Schema `json:"data"`
	ItemOf      string           `json:"item_of"`
}

func internalActions(t *testing.T, doc *openapi3.T) map[string]internalAction {
	t.Helper()
	raw, err := json.Marshal(doc.Components.Schemas["Event"].Value.Extensions["x-internal-actions"])
	require.NoError(t, err)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var all map[string]internalAction
	require.NoError(t, d.Decode(&all))
	return all
}

// internal holds the attributes of the events that the platform writes, as the
// specification and the design list them.
var internal = map[string]string{
	"anniversary":          "years",
	"balance_import":       "effective_timestamp expdate expiry file import line points",
	"birthday":             "",
	"challenge":            "challenge",
	"challenge_ending":     "challenge days ends_at",
	"checkout_accept_item": "-",
	"checkout_item":        "-",
	"checkout_update_item": "-",
	"contest_enter":        "contest_id count",
	"coupon_expiring":      "code days expires_at",
	"coupon_receive":       "code email original",
	"inactivity":           "days since",
	"merge":                "source",
	"offer_claim":          "offer",
	"pending":              "event points",
	"point_burn":           "points transaction_id",
	"point_expire":         "points",
	"point_unburn":         "points transaction_id",
	"points_expiring":      "days expires_at points",
	"prize_wheel_spin":     "points result type wheel",
	"profile_answer":       "answer flow question",
	"quiz_answer":          "answer quiz",
	"referral_bonus":       "points reason",
	"refund_contest_entry": "contest_id",
	"reward_claim":         "reward",
	"reward_receive":       "email original reward",
	"reward_redeem":        "claim reward transaction_id",
	"tier_change":          "expdate expires_at reason since structure tier",
	"tier_down":            "structure tier",
	"tier_expiring":        "days expires_at structure tier",
	"tier_recalculation":   "structure",
	"tier_up":              "expdate manual structure tier",
	"verify_customer":      "",
	"visual_search":        "bounds",
	"visual_search_bound":  "catalog gender label offers",
	"wheel_spin":           "points result type",
}

// TestInternalActions: an action the platform writes is described with its
// attributes, in the table too, and cannot be one that is submitted as well.
func TestInternalActions(t *testing.T) {
	doc := load(t, "events")
	all := internalActions(t, doc)
	require.ElementsMatch(t, slices.Collect(maps.Keys(internal)), slices.Collect(maps.Keys(all)))
	for action, i := range all {
		require.NotContains(t, actions, action)
		require.NotEmpty(t, i.WrittenBy, action)
		require.NotEmpty(t, i.Description, action)
		require.Regexp(t, "(?m)^\\| `"+action+"` \\|", doc.Info.Description, "%s is in the table", action)
		if i.ItemOf != "" {
			require.Equal(t, []string{"-", "checkout"}, []string{internal[action], i.ItemOf}, action)
			require.Nil(t, i.Data, action)
			continue
		}

		require.ElementsMatch(t, strings.Fields(internal[action]), slices.Collect(maps.Keys(i.Data.Properties)), action)
		if module, gated := i.Data.Extensions["x-module"]; gated {
			require.Contains(t, modules, module, action)
		}

		for name, p := range i.Data.Properties {
			require.NotEmpty(t, p.Value.Description, "%s: %s", action, name)
			require.NotNil(t, p.Value.Example, "%s: %s", action, name)
			require.NoError(t, visit(doc, p.Value, p.Value.Example), "%s: %s", action, name)
		}
	}
}

// TestPersonalInternalAttributes: where the platform itself writes what a person
// said or is told of a person, it is marked.
func TestPersonalInternalAttributes(t *testing.T) {
	var marked []string
	for action, i := range internalActions(t, load(t, "events")) {
		if i.Data == nil {
			continue
		}
		for name, p := range i.Data.Properties {
			if p.Value.Extensions["x-personal"] == true {
				marked = append(marked, action+"."+name)
			}
		}
	}
	require.ElementsMatch(t, []string{"coupon_receive.email", "merge.source", "profile_answer.answer", "referral_bonus.reason", "reward_receive.email", "tier_change.reason",
		"visual_search_bound.gender", "visual_search_bound.offers", "visual_search_bound.label", "visual_search_bound.catalog"}, marked)
}

func TestEventIsChecked(t *testing.T) {
	doc := load(t, "events")
	event := doc.Components.Schemas["Event"].Value
	const checkout = `{"customer":"c","action":"checkout","data":{"transaction_id":"T","total":%s}}`

	for name, c := range map[string]struct {
		body, fault string
	}{
		"good":                  {fmt.Sprintf(checkout, "10.5"), ""},
		"cf attribute":          {fmt.Sprintf(checkout, `1,"cf_a":{"b":[1]}`), ""},
		"unix seconds":          {fmt.Sprintf(checkout, `1,"effective_timestamp":1767225600`), ""},
		"unknown action":        {`{"customer":"c","action":"dance","data":{}}`, "discriminator"},
		"internal action":       {`{"customer":"c","action":"checkout_item","data":{}}`, "discriminator"},
		"misspelt envelope":     {`{"customer":"c","action":"suspend","data":{},"externalid":"crm"}`, "externalid"},
		"negative total":        {fmt.Sprintf(checkout, "-1"), "total"},
		"five decimals":         {fmt.Sprintf(checkout, "0.00001"), "total"},
		"text for a number":     {fmt.Sprintf(checkout, `"10"`), "total"},
		"relative address":      {`{"customer":"c","action":"visit","data":{"url":"/spring"}}`, "url"},
		"impossible birth date": {`{"customer":"c","action":"profile","data":{"birth_date":"2023-02-30"}}`, "birth_date"},
		"no line quantity":      {fmt.Sprintf(checkout, `1,"items":[{"product_id":"p","product_name":"n","product_url":"https://a.test","subtotal":1}]`), "quantity"},
		"half a point":          {`{"customer":"c","action":"point_add","data":{"points":0.5}}`, "points"},
		"no points":             {`{"customer":"c","action":"point_add","data":{"points":0}}`, "points"},
		"auto_accept removed":   {`{"customer":"c","action":"checkout_update","data":{"transaction_id":"T","total":1,"auto_accept":null}}`, ""},
		"external id removed":   {`{"customer":"c","action":"profile","data":{"external_ids":{"crm":null}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var value any
			decoder := json.NewDecoder(strings.NewReader(c.body))
			decoder.UseNumber()
			require.NoError(t, decoder.Decode(&value))
			err := visit(doc, event, value, openapi3.VisitAsRequest())
			if c.fault == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.fault)
		})
	}
}

// TestGeneratedTypes decodes the data of every example into the generated type
// and back: what the contract declares, the types hold.
func TestGeneratedTypes(t *testing.T) {
	types := map[string]func() any{
		"challenge_reset":             func() any { return new(events.ChallengeResetData) },
		"checkout":                    func() any { return new(events.CheckoutData) },
		"checkout_accept":             func() any { return new(events.CheckoutAcceptData) },
		"checkout_claim":              func() any { return new(events.CheckoutClaimData) },
		"checkout_reject":             func() any { return new(events.CheckoutRejectData) },
		"checkout_update":             func() any { return new(events.CheckoutUpdateData) },
		"contest_entry_revoke":        func() any { return new(events.ContestEntryRevokeData) },
		"coupon":                      func() any { return new(events.CouponData) },
		"coupon_create":               func() any { return new(events.CouponCreateData) },
		"coupon_invalidate":           func() any { return new(events.CouponInvalidateData) },
		"coupon_redeem":               func() any { return new(events.CouponRedeemData) },
		"coupon_transfer":             func() any { return new(events.CouponTransferData) },
		"coupon_unredeem":             func() any { return new(events.CouponUnredeemData) },
		"offer_redeem":                func() any { return new(events.OfferRedeemData) },
		"offer_unredeem":              func() any { return new(events.OfferUnredeemData) },
		"offline_treasure_code_found": func() any { return new(events.OfflineTreasureCodeFoundData) },
		"offline_treasure_found":      func() any { return new(events.OfflineTreasureFoundData) },
		"opt_in":                      func() any { return new(events.OptInData) },
		"opt_out":                     func() any { return new(events.OptOutData) },
		"partial_refund":              func() any { return new(events.PartialRefundData) },
		"pending_expired":             func() any { return new(events.PendingExpiredData) },
		"pending_invalidate":          func() any { return new(events.PendingInvalidateData) },
		"pending_validate":            func() any { return new(events.PendingValidateData) },
		"point_add":                   func() any { return new(events.PointAddData) },
		"point_spend":                 func() any { return new(events.PointSpendData) },
		"point_sub":                   func() any { return new(events.PointSubData) },
		"point_unspend":               func() any { return new(events.PointUnspendData) },
		"profile":                     func() any { return new(events.ProfileData) },
		"refund":                      func() any { return new(events.RefundData) },
		"refund_item":                 func() any { return new(events.RefundItemData) },
		"release_points":              func() any { return new(events.ReleasePointsData) },
		"reserve_points":              func() any { return new(events.ReservePointsData) },
		"review":                      func() any { return new(events.ReviewData) },
		"review_submit":               func() any { return new(events.ReviewSubmitData) },
		"reward_revoke":               func() any { return new(events.RewardRevokeData) },
		"reward_transfer":             func() any { return new(events.RewardTransferData) },
		"subscribe":                   func() any { return new(events.SubscribeData) },
		"suspend":                     func() any { return new(events.SuspendData) },
		"treasure_found":              func() any { return new(events.TreasureFoundData) },
		"unassign_coupon":             func() any { return new(events.UnassignCouponData) },
		"unsuspend":                   func() any { return new(events.UnsuspendData) },
		"video":                       func() any { return new(events.VideoData) },
		"visit":                       func() any { return new(events.VisitData) },
	}

	require.ElementsMatch(t, slices.Collect(maps.Keys(actions)), slices.Collect(maps.Keys(types)))
	examples := load(t, "events").Components.Examples
	for action, empty := range types {
		raw, err := json.Marshal(examples[action].Value.Value)
		require.NoError(t, err)
		var event events.Event
		require.NoError(t, json.Unmarshal(raw, &event), action)
		require.Equal(t, action, event.Action)
		data := empty()
		require.NoError(t, json.Unmarshal(event.Data, data), action)
		back, err := json.Marshal(data)
		require.NoError(t, err)
		require.JSONEq(t, declared(t, event.Data), string(back), action)
	}
}

func TestAutoAcceptTellsNullFromAbsent(t *testing.T) {
	for body, want := range map[string]json.RawMessage{
		`{}`:                           nil,
		`{"auto_accept":null}`:         json.RawMessage(`null`),
		`{"auto_accept":""}`:           json.RawMessage(`""`),
		`{"auto_accept":"2026-03-20"}`: json.RawMessage(`"2026-03-20"`),
	} {
		var data events.CheckoutUpdateData
		require.NoError(t, json.Unmarshal([]byte(body), &data))
		require.Equal(t, want, data.AutoAccept, body)
	}
}

// declared gives data without the attributes that are the caller's own, which a
// generated type leaves in the raw data.
func declared(t *testing.T, data []byte) string {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal(data, &value))
	var drop func(any)
	drop = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			maps.DeleteFunc(v, func(name string, _ any) bool { return strings.HasPrefix(name, "cf_") })
			for _, e := range v {
				drop(e)
			}
		case []any:
			for _, e := range v {
				drop(e)
			}
		}
	}

	drop(value)
	out, err := json.Marshal(value)
	require.NoError(t, err)
	return string(out)
}

func extra(action string) string {
	if action == "profile" || strings.HasPrefix(action, "checkout") {
		return "any"
	}
	return "custom"
}
