package server_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestActionsOfTheProgramme: an action, and attributes of built-in actions and of
// lines, that the programme declares are taken by all three operations, as JSON
// and as a form, and checked by their schema; what is not declared is refused.
//
// spec: rule.checkout.custom, line.custom
func TestActionsOfTheProgramme(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		h.enrol("member-1001")
		const (
			read   = `{"customer":"member-1001","action":"newsletter_read","data":{"issue":7}}`
			broken = `{"customer":"member-1001","action":"newsletter_read","data":{"issue":"7"}}`
			form   = `customer=member-1001&action=newsletter_read&data[issue]=`
		)

		refused := func(a answer, field string, code int) {
			t.Helper()
			require.Equal(t, http.StatusBadRequest, a.status, a.body)
			require.Equal(t, code, a.fault(t).Code)
			require.Equal(t, []string{field}, a.fault(t).fields())
		}

		refused(h.post("/events", read), "action", 190012)
		refused(h.post("/events/preview", read), "action", 190012)
		refused(h.form("/events", form+"7"), "action", 190012)

		done(h, "/admin/modules/custom_events", `{"enabled":true}`)
		done(h, "/entities/custom-events/action", `{"id":"newsletter_read","name":"newsletter_read","schema":{"type":"object","required":["issue"],"properties":{"issue":{"type":"integer","minimum":1}}}}`)
		require.Equal(t, "newsletter_read", recordedActions(done(h, "/events", read))[0])
		require.Equal(t, "newsletter_read", recordedActions(done(h, "/events/preview", read))[0])
		a := h.form("/events", form+"7")
		require.Equal(t, http.StatusOK, a.status, a.body)
		refused(h.post("/events", broken), "data.issue", 190010)
		refused(h.post("/events/preview", broken), "data.issue", 190010)
		refused(h.form("/events", form+"seven"), "data.issue", 190010)
		refused(h.form("/events", form), "data.issue", 0)

		all := done(h, "/events/bulk", `{"events":[`+read+`,`+broken+`,{"customer":"member-1001","action":"dance","data":{}}]}`)
		results := all["results"].([]any)
		require.Contains(t, results[0], "events")
		for i, field := range []string{"events[1].data.issue", "events[2].action"} {
			e := results[i+1].(map[string]any)["error"].(map[string]any)
			require.Equal(t, "BadRequestException", e["type"])
			require.Equal(t, field, e["details"].([]any)[0].(map[string]any)["field"])
		}

		const visit = `{"customer":"member-1001","action":"visit","data":{"url":"https://shop.test/","kiosk":"north"}}`
		refused(h.post("/events", visit), "data.kiosk", 190011)
		done(h, "/entities/custom-events/action", `{"id":"visit","name":"visit","schema":{"type":"object","properties":{"kiosk":{"type":"string","enum":["north","south"]}}}}`)
		done(h, "/events", visit)
		refused(h.form("/events", "customer=member-1001&action=visit&data[url]=https://shop.test/&data[kiosk]=west"), "data.kiosk", 190010)

		const line = `{"product_id":"p-501","product_name":"n","product_url":"https://shop.test/","quantity":1,"subtotal":1,"size":`
		done(h, "/entities/custom-events/action", `{"id":"line","name":"checkout_item","schema":{"type":"object","properties":{"size":{"type":"integer"}}}}`)
		refused(h.post("/events", `{"customer":"member-1001","action":"checkout","data":{"transaction_id":"T-1001","total":1,"items":[`+line+`"m"}]}}`), "data.items[0].size", 190010)
		done(h, "/events", `{"customer":"member-1001","action":"checkout","data":{"transaction_id":"T-1001","total":1,"items":[`+line+`38}]}}`)

		a = h.post("/entities/custom-events/action", `{"name":"tasting","schema":{"type":"object","properties":{"cups":{"type":"number","most":3}}}}`)
		refused(a, "schema.properties.cups.most", 190011)
		twice := h.post("/entities/custom-events/action", `{"name":"checkout_item","schema":{"type":"object"}}`)
		require.Equal(t, http.StatusConflict, twice.status, twice.body)
		require.Equal(t, "Property name: line already has this value", twice.fault(t).Message)
		a = h.post("/entities/custom-events/action", `{"name":"reward_claim","schema":{"type":"object"}}`)
		refused(a, "name", 190010)
	})
}

// recordedActions lists the actions of the events that an answer names.
func recordedActions(outcome map[string]any) []string {
	var names []string
	for _, e := range outcome["events"].([]any) {
		names = append(names, e.(map[string]any)["action"].(string))
	}
	return names
}

// TestInternalActionsOverHTTP: an event that only the platform writes is refused
// with what writes it.
//
// spec: internal.not-submitted, internal.items
func TestInternalActionsOverHTTP(t *testing.T) {
	h := open(t)
	h.enrol("member-1001")
	for action, writer := range map[string]string{"checkout_item": "checkout", "coupon_receive": "coupon_transfer", "merge": "/merge"} {
		body := `{"customer":"member-1001","action":"` + action + `","data":{}}`
		for _, a := range []answer{h.post("/events", body), h.form("/events", "customer=member-1001&action="+action+"&data[code]=x")} {
			require.Equal(t, http.StatusUnprocessableEntity, a.status, a.body)
			require.Equal(t, 190044, a.fault(t).Code)
			require.Contains(t, a.fault(t).Message, writer)
		}
	}
}
