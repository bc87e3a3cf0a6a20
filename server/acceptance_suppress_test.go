package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestNobodyIsNamed: with the module's flag on, no answer of the Events API names
// a person, whatever is sent: every action with something personal in every place,
// alone, in a bulk and as a preview, what is refused and what is broken.
//
// spec: service.suppress-pii
func TestNobodyIsNamed(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		for _, piece := range append(examplePieces[:len(examplePieces):len(examplePieces)], canaryPieces...) {
			done(h, piece[0], piece[1])
		}

		done(h, "/entities/automation/campaign", `{"id":"odd","name":"Odd","trigger":"visit","condition":"customer.cf_note > 5 && customer.email > 'a'","effects":[{"type":"points","points":1}],"status":"active"}`)
		p := h.newPerson(newCage(t), "id", "1")
		require.NotEmpty(t, p.cage.found(map[string]string{"before": marshal(t, p.say("opt_in", map[string]any{"email": p.cage.email("email"), "cf_note": "x"}))}), "without the flag a person is named")
		done(h, "/admin/modules/events_api", `{"enabled":true,"config":{"suppress_pii":true}}`)
		p = h.newPerson(p.cage, "other id", "1") // the coupons and purchases of the story are new
		answers := map[string]string{}
		p.heard = func(target, text string, a answer) {
			answers[target+" "+text] = fmt.Sprint(a.body, a.header)
			require.NotContains(t, a.json(t), "customer")
		}

		optOut := p.live()
		p.pass(answers)
		p.unsaid(answers)
		p.example("opt_out", optOut)
		require.Greater(t, len(answers), 100)
		p.cage.none(answers)
		require.Contains(t, h.get("/customers/"+p.cage.all[0].text).body, p.cage.all[0].text, "other APIs are not concerned")
	})
}

// pass gives a coupon to a customer who is named by a canary.
func (p *person) pass(answers map[string]string) {
	p.t.Helper()
	friend := p.newPerson(p.cage, "friend id", "2")
	friend.heard = p.heard
	friend.say("opt_in", map[string]any{"email": p.cage.email("friend email"), "referrer": p.id})
	p.say("coupon_create", map[string]any{"code": "GIFT", "value": 1})
	gift := p.event(p.id, "coupon_transfer", map[string]any{"code": "GIFT", "target": friend.id})
	told := done(p.house, "/events/preview", gift)
	answers["preview of a gift"] = fmt.Sprint(told)
	require.Contains(p.t, answers["preview of a gift"], "rule:coupon")
	p.must("/events", gift)
}

// unsaid notes what the Events API answers to requests that are refused.
func (p *person) unsaid(answers map[string]string) {
	p.t.Helper()
	stranger, word := p.cage.name("stranger"), p.cage.name("word")
	events := []string{
		p.event(stranger, "visit", map[string]any{"url": "https://shop.test/"}),
		p.event(p.id, "opt_in", map[string]any{"email": p.cage.email("again")}),
		p.event(p.id, "profile", map[string]any{"email": word, "birth_date": word, "labels": word, "image_url": word, "language": 7, "cf_x": word}),
		p.event(p.id, "visit", map[string]any{"url": "https://shop.test/", "song": word}),
		p.event(stranger, "opt_in", map[string]any{"email": p.cage.email("friend"), "referrer": word}),
		p.event(stranger, "subscribe", map[string]any{"handler": word, "external_ids": map[string]any{"crm": p.crm}}),
		p.event(p.id, "profile", map[string]any{"external_ids": map[string]any{"c:m": word}}),
		p.event(p.id, "coupon_transfer", map[string]any{"code": "SPRING-1001", "target": word}),
		p.event(p.id, "reward_transfer", map[string]any{"reward": "coffee-voucher", "email": p.cage.email("nobody")}),
		p.event(p.id, "coupon_transfer", map[string]any{"code": "none", "email": p.cage.email("nobody else")}),
		p.event(p.id, "point_spend", map[string]any{"points": 900000000, "reason": word}),
		p.event(p.id, "coupon_receive", map[string]any{"code": "x", "email": word}),
		p.event(p.id, "merge", map[string]any{"source": word}),
		`{"customer":"` + word + `","action":"visit","data":{"url":"https://shop.test/"},"external_id":"` + word + `"}`,
		`{"customer":{"` + word + `":1},"action":"visit","data":{}}`, `{"customer":"` + word + `","action":"visit","data":"` + word + `"}`, `"` + word + `"`, word,
	}

	for _, text := range events {
		for _, target := range []string{"/events", "/events/preview"} {
			a := p.post(target, text)
			require.Less(p.t, a.status, http.StatusInternalServerError, text)
			if target == "/events" {
				require.GreaterOrEqual(p.t, a.status, http.StatusBadRequest, text)
			}
			answers[target+text] = fmt.Sprint(a.body, a.header)
		}
	}

	a := p.does("/events/bulk", `{"events":[`+strings.Join(events[:len(events)-2], ",")+`]}`)
	answers["bulk"] = fmt.Sprint(a.body, a.header)
	for name, text := range eventExamples(p.t) {
		var event map[string]any
		require.NoError(p.t, json.Unmarshal([]byte(strings.ReplaceAll(text, "member-1001", p.id)), &event))
		if event["external_id"] != nil {
			event["customer"] = p.crm
		}
		p.cage.fill(event, actionSchemas(p.t)[name])
		a := p.post("/events/preview", marshal(p.t, event))
		require.Less(p.t, a.status, http.StatusInternalServerError)
		answers["preview of "+name] = fmt.Sprint(a.body, a.header)
	}
}

func (p *person) event(customer, action string, data map[string]any) string {
	return marshal(p.t, map[string]any{"customer": customer, "action": action, "data": data})
}
