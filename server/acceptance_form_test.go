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

// formStory are the forms in the order in which they are sent: every payload that
// the specification shows or describes in words, and what the journal shows of it: nothing that is
// sealed.
var formStory = []struct{ name, form, data string }{
	{"enrolment", "customer=ada&action=opt_in&data[email]=ada%40shop.test&data[first_name]=Ada&data[birth_date]=1990-05-17&data[language]=hun&data[currency]=HUF", `{}`},
	{"labels, places left out", "customer=ada&action=profile&data[labels][]=vip&data[labels][]=news&data[opt_in]=true", `{"opt_in":true}`},
	{"labels, one by one", "customer=ada&action=profile&data[labels][0]=vip&data[labels][1]=news&data[opt_in]=0", `{"opt_in":false}`},
	{"points", "customer=ada&action=point_add&data[points]=500&data[transaction_id]=0042", `{"points":500,"transaction_id":"0042"}`},
	{"reservation with points", "customer=ada&action=reserve_points&data[transaction_id]=T-1&data[points]=20", `{"points":20,"transaction_id":"T-1"}`},
	{"release with points", "customer=ada&action=release_points&data[transaction_id]=T-1&data[points]=5", `{"points":5,"transaction_id":"T-1"}`},
	{"purchase with lines", "customer=ada&action=checkout&data[transaction_id]=T-1&data[total]=99.99&data[points_burned]=30&data[auto_accept]=2126-03-15&data[discount]=5.00&data[shipping]=4&data[items][0][product_id]=p-501&data[items][0][product_name]=Beans&data[items][0][product_url]=https%3A%2F%2Fshop.test%2Fp%2F501&data[items][0][quantity]=2&data[items][0][subtotal]=60.00&data[items][1][product_id]=p-733&data[items][1][product_name]=Pot&data[items][1][product_url]=https%3A%2F%2Fshop.test%2Fp%2F733&data[items][1][quantity]=1&data[items][1][subtotal]=39.99", ``},
	{"change, date removed by empty text", "customer=ada&action=checkout_update&data[transaction_id]=T-1&data[total]=60&data[auto_accept]=", `{"auto_accept":"","total":60,"transaction_id":"T-1"}`},
	{"acceptance", "customer=ada&action=checkout_accept&data[transaction_id]=T-1", `{"transaction_id":"T-1"}`},
	{"refund of a sum", "customer=ada&action=partial_refund&data[transaction_id]=T-1&data[amount]=33.33", `{"amount":33.33,"transaction_id":"T-1"}`},
	{"free shipping, in words", "customer=ada&action=coupon_create&data[code]=SHIP&data[value]=0&data[type]=free+shipping", `{"code":"SHIP","type":"free shipping","value":0}`},
	{"gift card", "customer=ada&action=coupon_create&data[code]=CARD&data[value]=0&data[amount]=25&data[expdate]=2126-06-30", `{"amount":25,"code":"CARD","expdate":"2126-06-30","value":0}`},
	{"gift card, nothing of it", "customer=ada&action=coupon_redeem&data[code]=CARD&data[amount]=0", `{"amount":0,"code":"CARD"}`},
	{"treasure with its code", "customer=ada&action=offline_treasure_code_found&data[treasure_id]=jar&data[code]=0042", `{"code":"0042","treasure_id":"jar"}`},
	{"page, an empty text is a text", "customer=ada&action=visit&data[url]=https%3A%2F%2Fa.b%2F%3Fx%3D1%26y%3D2&data[points]=5&data[type]=", `{"points":5}`},
	{"entries back", "customer=ada&action=contest_entry_revoke&data[contest_id]=raffle&data[refund_points]=1", `{"contest_id":"raffle","refund_points":true}`},
}

// TestFormsThroughHTTP sends the payloads of the specification as forms: what is
// kept of each, null and empty as decided, and attributes of the caller's own.
//
// spec: service.form, endpoint.events
func TestFormsThroughHTTP(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		for _, piece := range [][2]string{
			{"/admin/modules/contests", `{"enabled":true}`}, {"/admin/modules/checkout_accept", `{"enabled":true}`},
			{"/entities/treasure-hunt/treasure", `{"id":"jar","title":{"en":"Jar"},"kind":"offline","code":"0042","points":10}`},
			{"/entities/contests/contest", `{"id":"raffle","title":{"en":"Raffle"},"points":5,"max_entries":10}`},
		} {
			done(h, piece[0], piece[1])
		}

		db := contentsOf(t, url)
		for _, f := range formStory {
			if strings.Contains(f.form, "contest_entry_revoke") {
				a := h.form("/customers/ada/activities/contests/raffle/enter", "count=2")
				require.Equal(t, http.StatusOK, a.status, a.body)
			}
			a := h.form("/events", f.form)
			require.Equal(t, http.StatusOK, a.status, "%s: %s", f.name, a.body)
			if f.data != "" {
				first := a.json(t)["events"].([]any)[0].(map[string]any)["id"]
				require.JSONEq(t, f.data, db.dataOf(first), f.name)
			}
		}

		customer := data(t, h.get("/customers/ada"))
		require.Equal(t, []any{"vip", "news"}, customer["labels"])
		require.Equal(t, "1990-05-17 hun HUF", fmt.Sprint(customer["birth_date"], " ", customer["language"], " ", customer["currency"]))
		visited := h.get("/customers/ada/events?action=visit").json(t)["data"].([]any)[0].(map[string]any)["data"].(map[string]any)
		require.Equal(t, "https://a.b/?x=1&y=2", visited["url"])
		require.Contains(t, visited, "type", "an empty text is a text")
		require.Empty(t, visited["type"])
		ledgerHolds(t, h.store)
		formsOfNothing(h, db)
		formsOfOnesOwn(h)
		formsOfNull(h)
	})
}

// formsOfNull: what null means in an object of one's own names, an empty value means in a form.
func formsOfNull(h *house) {
	h.t.Helper()
	for _, step := range [][3]string{
		{"/events", "customer=ada&action=profile&data[external_ids][crm]=7&data[external_ids][till]=8&data[external_ids][shop]=9", "map[crm:7 shop:9 till:8]"},
		{"/events", "customer=ada&action=profile&data[external_ids][crm]=", "map[shop:9 till:8]"},
		{"/entities/core/customer/ada", "external_ids[till]=", "map[shop:9]"},
	} {
		a := h.form(step[0], step[1])
		require.Equal(h.t, http.StatusOK, a.status, a.body)
		require.Equal(h.t, step[2], fmt.Sprint(data(h.t, h.get("/customers/ada"))["external_ids"]), step[1])
	}
}

// dataOf reads what the journal shows of an event.
func (c *contents) dataOf(id any) string {
	c.t.Helper()
	query := `SELECT data FROM events WHERE id = ?`
	if c.file == "" {
		query = `SELECT data FROM events WHERE id = $1`
	}
	found := texts(c.t, c.db, query, c.id(id))
	require.Len(c.t, found, 1)
	return found[0]
}

// formsOfNothing: empty text counts as missing where something is required, is no
// number and no date, and clears a text of the profile.
func formsOfNothing(h *house, db *contents) {
	t := h.t
	t.Helper()
	for form, field := range map[string]string{
		"customer=&action=visit&data[url]=https://a.b":                                  "customer",
		"customer=ada&action=&data[url]=https://a.b":                                    "action",
		"customer=ada&action=visit":                                                     "data",
		"customer=ada&action=visit&data[url]=":                                          "data.url",
		"customer=ada&action=visit&data[url]=+%09":                                      "data.url",
		"customer=ada&action=point_add&data[points]=":                                   "data.points",
		"customer=ada&action=checkout&data[transaction_id]=T-9&data[total]=":            "data.total",
		"customer=ada&action=checkout&data[transaction_id]=&data[total]=1":              "data.transaction_id",
		"customer=ada&action=checkout_claim&data[transaction_id]=":                      "data.transaction_id",
		"customer=ada&action=review_submit&data[item]=p&data[review]=&data[provider]=x": "data.review",
		"":       "customer",
		"&&data": "customer",
	} {
		a := h.form("/events", form)
		require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", form, a.body)
		require.Equal(t, 0, a.fault(t).Code, form)
		require.Equal(t, field, a.fault(t).fields()[0], form)
	}

	a := h.form("/events", "customer=ada&action=checkout&data[transaction_id]=T-9&data[total]=1&data[points_burned]=&data[auto_accept]=&data[channel]=")
	require.Equal(t, http.StatusBadRequest, a.status, a.body)
	require.Equal(t, []string{"data.auto_accept", "data.points_burned"}, a.fault(t).fields())
	for _, form := range []string{
		"customer=ada&action=checkout&data[transaction_id]=T-9&data[total]=1&data[channel]=",
		"customer=ada&action=profile&data[first_name]=&data[cf_a]=",
	} {
		a := h.form("/events", form)
		require.Equal(t, http.StatusOK, a.status, "%s: %s", form, a.body)
	}

	require.NotContains(t, data(t, h.get("/customers/ada")), "first_name", "empty text clears")
	for _, null := range []string{`null`, `""`} { // as JSON, both mean something in an update
		done(h, "/events", `{"customer":"ada","action":"checkout_update","data":{"transaction_id":"T-9","total":1,"auto_accept":"2126-01-01"}}`)
		done(h, "/events", `{"customer":"ada","action":"checkout_update","data":{"transaction_id":"T-9","total":1,"auto_accept":`+null+`}}`)
		require.Empty(t, texts(t, db.db, `SELECT CAST(auto_accept AS text) FROM transactions WHERE transaction_id = 'T-9' AND auto_accept IS NOT NULL`))
	}
}

// formsOfOnesOwn: attributes of the caller's own are kept as text, cf_ ones
// everywhere, others on profiles, purchases and their lines, and nowhere else.
func formsOfOnesOwn(h *house) {
	t := h.t
	t.Helper()
	own := "data[cf_size]=7&data[cf_deep][list][]=a&data[cf_deep][list][]=b&data[cf_deep][note]=%E2%82%AC"
	a := h.form("/events", "customer=ada&action=profile&"+own+"&data[shoe]=42")
	require.Equal(t, http.StatusOK, a.status, a.body)
	kept := data(t, h.get("/customers/ada"))
	require.Equal(t, []any{"7", "42"}, []any{kept["cf_size"], kept["shoe"]})
	deep, err := json.Marshal(kept["cf_deep"])
	require.NoError(t, err)
	require.JSONEq(t, `{"list":["a","b"],"note":"€"}`, string(deep))
	line := "&data[items][0][product_id]=p&data[items][0][product_name]=n&data[items][0][product_url]=https://a.b&data[items][0][quantity]=1&data[items][0][subtotal]=1&data[items][0][cf_engraving]=7&data[items][0][size]=38"

	for form, field := range map[string]string{
		"customer=ada&action=visit&data[url]=https://a.b&" + own:                                          "",
		"customer=ada&action=checkout&data[transaction_id]=T-10&data[total]=1&data[gift]=y&" + own + line: "",
		"customer=ada&action=visit&data[url]=https://a.b&data[shoe]=42":                                   "data.shoe",
		"customer=ada&action=point_add&data[points]=1&data[Points]=2":                                     "data.Points",
		"customer=ada&action=visit&data[url]=https://a.b&colour=red":                                      "colour",
	} {
		a := h.form("/events", form)
		if field == "" {
			require.Equal(t, http.StatusOK, a.status, "%s: %s", form, a.body)
			continue
		}
		require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", form, a.body)
		require.Equal(t, []string{field}, a.fault(t).fields(), form)
	}
}
