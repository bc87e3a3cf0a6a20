package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/signing"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestEventsAreWrittenOnce: what was submitted is shown as it was, whatever is done
// to it or happens afterwards.
//
// spec: service.write-once, service.no-put-delete, service.api.events
func TestEventsAreWrittenOnce(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("member-1001")
		h.told(`{"customer":"member-1001","action":"checkout","data":{"transaction_id":"T-1","total":10,"items":[` + teaLine + `]}}`)
		shown := h.get(member + "/events").json(t)["data"].([]any)
		require.Len(t, shown, 3)
		for _, e := range shown {
			id := fmt.Sprint(e.(map[string]any)["id"])
			for _, path := range []string{"/events", "/events/" + id, member + "/events/" + id} {
				for _, verb := range []string{http.MethodPut, http.MethodPatch, http.MethodDelete} {
					a := h.signed(h.key, h.request(verb, path, `{"data":{"total":1}}`, "Content-Type", jsonType))
					require.Contains(t, []int{http.StatusNotFound, http.StatusMethodNotAllowed}, a.status, "%s %s: %s", verb, path, a.body)
				}
			}
			require.Equal(t, http.StatusNotFound, h.post("/events/"+id, `{"data":{"total":1}}`).status)
		}

		h.told(`{"customer":"member-1001","action":"refund","data":{"transaction_id":"T-1"}}`, `{"customer":"member-1001","action":"suspend","data":{"reason":"x"}}`)
		all := h.get(member + "/events?limit=100").json(t)["data"].([]any)
		require.Equal(t, shown, all[len(all)-len(shown):])
	})
}

// TestEnvelope: customer, action and data are required, and the event is in the
// stream of the customer who is named.
//
// spec: event.customer, event.action, event.data, endpoint.events, service.single
func TestEnvelope(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("member-1001")
		h.enrol("member-1002")
		const whole = `{"customer":"member-1001","action":"visit","data":{"url":"https://shop.test/"}}`
		for name, broken := range map[string]string{
			"customer": strings.Replace(whole, `"customer":"member-1001",`, "", 1), "action": strings.Replace(whole, `"action":"visit",`, "", 1),
			"data": `{"customer":"member-1001","action":"visit"}`,
		} {
			a := h.post("/events", broken)
			require.Equal(t, http.StatusBadRequest, a.status, a.body)
			f := a.fault(t)
			require.Equal(t, 0, f.Code, a.body)
			if name != "data" { // what data lacks may be named instead
				require.Equal(t, "Property "+name+" cannot be empty", f.Message)
			}
		}

		require.Equal(t, http.StatusBadRequest, h.post("/events", strings.Replace(whole, `"visit"`, `"dance"`, 1)).status)
		refused(t, h.post("/events", strings.Replace(whole, "member-1001", "nobody", 1)), http.StatusNotFound, 160212)
		done(h, "/events", whole)
		require.Equal(t, "visit", column(t, h.get(member+"/events"), "action")[0])
		require.NotContains(t, column(t, h.get("/customers/member-1002/events"), "action"), "visit")
	})
}

// TestLinesOfTheSpecification: each attribute of a line is taken, shown as it was
// sent, and refused with a value of another kind; the first five are required. The
// subtotal alone decides the points, and nothing is computed from price and discount.
//
// spec: line.*
func TestLinesOfTheSpecification(t *testing.T) {
	properties := []struct{ name, good, bad string }{
		{"product_id", `"p-1"`, `{"a":1}`},
		{"product_name", `"Tea"`, `{"a":1}`},
		{"product_url", `"https://shop.test/p/1"`, `"p/1"`},
		{"quantity", `2`, `1.5`},
		{"subtotal", `7.5`, `"many"`},
		{"points_rewarded", `40`, `1.5`},
		{"price", `100.25`, `"many"`},
		{"discount", `0.5`, `"many"`},
		{"product_category", `"Grocery > Tea"`, `{"a":1}`},
		{"cf_colour", `"red"`, ``},
	}

	const required = 5
	checkout := func(id string, change func(name, good, bad string) string) string {
		var parts []string
		for _, p := range properties {
			if v := change(p.name, p.good, p.bad); v != "" {
				parts = append(parts, fmt.Sprintf("%q:%s", p.name, v))
			}
		}
		return `{"customer":"member-1001","action":"checkout","data":{"transaction_id":"` + id + `","total":10,"channel":"store","items":[{` + strings.Join(parts, ",") + `}]}}`
	}

	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("member-1001")
		for i, p := range properties {
			without := h.post("/events/preview", checkout("T-1", func(name, good, _ string) string {
				if name == p.name {
					return ""
				}
				return good
			}))

			if i < required {
				require.Equal(t, http.StatusBadRequest, without.status, p.name)
				require.Equal(t, "Property "+p.name+" cannot be empty", without.fault(t).Message)
			} else {
				require.Equal(t, http.StatusOK, without.status, "%s: %s", p.name, without.body)
				require.NotContains(t, without.json(t), "error", p.name)
			}

			if p.bad == "" {
				continue
			}

			broken := h.post("/events/preview", checkout("T-1", func(name, good, bad string) string {
				if name == p.name {
					return bad
				}
				return good
			}))

			require.Equal(t, http.StatusBadRequest, broken.status, "%s: %s", p.name, broken.body)
			require.Equal(t, []string{"data.items[0]." + p.name}, broken.fault(t).fields())
		}

		done(h, "/events", checkout("T-1", func(name, good, _ string) string {
			if name == "points_rewarded" {
				return ""
			}
			return good
		}))

		done(h, "/events", checkout("T-2", func(_, good, _ string) string { return good }))
		events := entries(t, h.get(member+"/events?action=checkout_item"))
		require.Len(t, events, 2)
		require.Equal(t, "40 7", fmt.Sprint(events[0]["points"], " ", events[1]["points"]), "what was sent replaces what the subtotal earns")
		item := events[0]["data"].(map[string]any)
		require.Equal(t, "p-1 Tea https://shop.test/p/1 2 7.5 40 100.25 0.5 Grocery > Tea red",
			fmt.Sprint(item["product_id"], " ", item["product_name"], " ", item["product_url"], " ", item["quantity"], " ", item["subtotal"], " ", item["points_rewarded"], " ",
				item["price"], " ", item["discount"], " ", item["product_category"], " ", item["cf_colour"]))
		require.Equal(t, "T-2 10 store", fmt.Sprint(item["transaction_id"], " ", item["total"], " ", item["channel"]), "the line has what its checkout has")
	})
}

// TestSignedHeadersOfTheSpecification: an event needs its signature, host and date,
// and may name a language; the secret goes nowhere, and Authorization is not signed.
//
// spec: endpoint.events.headers, auth.secret, auth.header.unsigned, auth.header, auth.dates, auth.canonical.host, auth.canonical.date, auth.region
func TestSignedHeadersOfTheSpecification(t *testing.T) {
	h := open(t, patient)
	h.enrol("member-1001")
	told := data(t, h.get("/admin/settings"))["region"].(string)
	r := h.request(http.MethodPost, "/events", visit, "Content-Type", jsonType, "Accept-language", "hu")
	require.NoError(t, signing.Default(told).Sign(r, []byte(visit), h.key))
	require.Regexp(t, `^\d{8}T\d{6}Z$`, r.Header.Get("Date"))
	require.Regexp(t, `^SERVICE-HMAC-SHA256 Credential=`+h.key.KeyID+`/\d{8}/`+told+`/api/service_request, SignedHeaders=date;host, Signature=[0-9a-f]{64}$`, r.Header.Get("Authorization"))
	require.NotContains(t, fmt.Sprint(r.Header, r.URL), h.key.Secret)
	a := h.send(r.Clone(t.Context()))
	require.NotEqual(t, http.StatusUnauthorized, a.status, a.body)
	require.Equal(t, "hu", a.header.Get("Content-Language"))
	for _, name := range []string{"Authorization", "Date"} {
		again := r.Clone(t.Context())
		again.Header.Del(name)
		require.Equal(t, http.StatusUnauthorized, h.send(again).status, "without %s", name)
	}

	again := r.Clone(t.Context())
	again.Host = "elsewhere.test"
	require.Equal(t, http.StatusUnauthorized, h.send(again).status, "another host")
	for _, signed := range []string{"date", "date;host;authorization"} {
		again = r.Clone(t.Context())
		again.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "SignedHeaders=date;host", "SignedHeaders="+signed, 1))
		require.Equal(t, http.StatusUnauthorized, h.send(again).status, signed)
	}
}

// TestPointsOfTheSpecification: what the rules of points say of the balance, the
// score, what was spent, and the transaction.
//
// spec: rule.checkout.negative-points, rule.checkout.burned, rule.partial_refund.score, rule.point_add.transaction, rule.point_add.balance, rule.point_spend.balance, rule.point_sub.balance, rule.point_unspend.balance
func TestPointsOfTheSpecification(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("member-1001")
		figures := func() string {
			c := data(t, h.get(member))
			return fmt.Sprint(c["score"], " ", c["spent"], " ", c["spendable"])
		}

		for _, step := range []struct{ action, data, want string }{
			{"point_add", `{"points":100}`, "100 0 100"},
			{"point_spend", `{"points":40}`, "100 40 60"},
			{"point_unspend", `{"points":15}`, "100 25 75"},
			{"point_sub", `{"points":5}`, "95 25 70"},
			{"checkout", `{"transaction_id":"T-1","total":12,"items":[` + teaLine + `]}`, ""},
			{"point_add", `{"points":3,"transaction_id":"T-1"}`, ""},
		} {
			done(h, "/events", fmt.Sprintf(`{"customer":"member-1001","action":%q,"data":%s}`, step.action, step.data))
			if step.want != "" {
				require.Equal(t, step.want, figures(), step.action)
			}
		}

		require.Contains(t, column(t, h.get(member+"/transactions/T-1/events"), "action"), "point_add", "the breakdown has what was linked to it")

		before := data(t, h.get(member))
		done(h, "/events", `{"customer":"member-1001","action":"partial_refund","data":{"transaction_id":"T-1","amount":6}}`)
		after := data(t, h.get(member))
		require.Less(t, number(t, after["score"]), number(t, before["score"]))
		require.Equal(t, before["spent"], after["spent"])

		balance := number(t, after["spendable"])
		done(h, "/events", fmt.Sprintf(`{"customer":"member-1001","action":"checkout","data":{"transaction_id":"T-2","total":1,"points_burned":%d}}`, balance))
		require.Zero(t, number(t, data(t, h.get(member))["spendable"]), "a purchase that takes more than it gives")
		burn := entries(t, h.get(member+"/events?action=point_burn"))[0]
		require.Equal(t, -balance, number(t, burn["points"]))
		a := h.post("/events", `{"customer":"member-1001","action":"checkout","data":{"transaction_id":"T-3","total":1,"points_burned":1}}`)
		require.Equal(t, http.StatusUnprocessableEntity, a.status, a.body)
		require.Equal(t, "Customer doesn't have enough points for discount", a.fault(t).Message)
	})
}

// number reads a whole number of an answer.
func number(t *testing.T, v any) int64 {
	t.Helper()
	n, err := v.(json.Number).Int64()
	require.NoError(t, err)
	return n
}

// TestSpecialParameters: limit is a special parameter, and limit.eq a filter, which
// is refused where nothing is called so.
//
// spec: operator.explicit-eq
func TestSpecialParameters(t *testing.T) {
	h := open(t, patient)
	h.enrol("member-1001")
	h.enrol("member-1002")
	require.Len(t, column(t, h.get("/customers?limit=1"), "id"), 1)
	f := refused(t, h.get("/customers?limit.eq=1"), http.StatusBadRequest, 190069)
	require.Equal(t, []string{"limit.eq"}, f.fields())
	require.Len(t, column(t, h.get("/customers?status.eq=active&limit=1"), "id"), 1)
}
