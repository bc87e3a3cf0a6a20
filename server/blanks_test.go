package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/loyalty/condition"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestBlanksAroundIds: what people and machines put around an id is no part of it, in a body, a form, a bulk and a path.
func TestBlanksAroundIds(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		h := openOn(t, address)
		h.does("/events", `{"customer":" ada\u00a0","action":"opt_in","data":{"email":"ada@shop.test","external_ids":{"crm":" 42\t"}}}`)
		require.Equal(t, "ada", data(t, h.sees("/customers/%20ada%E2%80%83"))["id"])
		require.Equal(t, "ada", data(t, h.sees("/customers/crm:42%20"))["id"])
		require.Equal(t, http.StatusConflict, h.post("/events", `{"customer":"ada ","action":"opt_in","data":{"email":"b@shop.test"}}`).status)
		h.does("/events", `{"customer":"42 ","external_id":" crm","action":"point_add","data":{"points":5}}`)
		bulk := h.does("/events/bulk", `{"events":[{"customer":" ada","action":"point_add","data":{"points":5}},{"customer":"  ","action":"opt_in","data":{"email":"b@shop.test"}},
			{"customer":" leaderboard ","action":"opt_in","data":{"email":"b@shop.test"}}]}`)
		require.Contains(t, bulk.body, `"errors":2`)
		require.Equal(t, http.StatusOK, h.form("/events", "customer=+ada+&action=coupon_create&data[code]=%20X%20&data[value]=1").status)
		require.Equal(t, http.StatusConflict, h.post("/events", `{"customer":"ada","action":"coupon_create","data":{"code":"X","value":1}}`).status)
		require.Equal(t, "X", data(t, h.sees("/coupons/%20X"))["code"])
		h.does("/events", `{"customer":"ada","action":"coupon_redeem","data":{"code":"\u2003X "}}`)
		for _, reserved := range []string{"-", "leaderboard", ".", ".."} {
			a := h.post("/events", `{"customer":" `+reserved+` ","action":"opt_in","data":{"email":"b@shop.test"}}`)
			require.Equal(t, http.StatusBadRequest, a.status, a.body)
			require.Equal(t, 190014, a.fault(t).Code)
		}

		for _, path := range []string{"/customers/%20", "/customers/%20-", "/coupons/%20", "/coupons/-%20", "/customers/%20-%20/events"} {
			require.Equal(t, http.StatusNotFound, h.get(path).status, path)
		}

		a := h.post("/events", `{"customer":" ","action":"opt_in","data":{"email":"b@shop.test"}}`)
		require.Equal(t, http.StatusBadRequest, a.status)
		require.Equal(t, "Property customer cannot be empty", a.fault(t).Message)
	})
}

// TestNamesTwice: which of two values was meant is a guess, so a name that comes twice is refused and named.
func TestNamesTwice(t *testing.T) {
	h := open(t)
	for body, field := range map[string]string{
		`{"customer":"a","customer":"b","action":"opt_in","data":{"email":"b@shop.test"}}`: "customer",
		`{"customer":"a","action":"opt_in","data":{"cf_a":{"b":[{"c":1,"\u0063":1}]}}}`:    "data.cf_a.b[0].c",
		`{"customer":"a","action":"opt_in","data":{"first_name":"A","first_name":null}}`:   "data.first_name",
	} {
		a := h.post("/events", body)
		require.Equal(t, http.StatusBadRequest, a.status, a.body)
		require.Equal(t, 190068, a.fault(t).Code)
		require.Equal(t, []string{field}, a.fault(t).fields())
		require.Equal(t, "The request body cannot be read: a name is given more than once", a.fault(t).Message)
	}

	a := h.form("/events", "customer=a&action=opt_in&data[first_name]=A&data[first_name]=A")
	require.Equal(t, http.StatusBadRequest, a.status, a.body)
	require.Equal(t, []string{"data[first_name]"}, a.fault(t).fields())
	a = h.form("/events", "customer=stranger&action=profile&data[labels][]=A&data[labels][]=B")
	require.Equal(t, http.StatusNotFound, a.status, "repeated brackets are a list: %s", a.body)

	r := h.request(http.MethodPost, "/events", `{"customer":"b","action":"opt_in","data":{"email":"b@shop.test"}}`)
	r.Header["Content-Type"] = []string{"application/json", "application/json"}
	a = h.signed(h.key, r)
	require.Equal(t, http.StatusBadRequest, a.status, a.body)
	require.Equal(t, []string{"Content-Type"}, a.fault(t).fields())
	r = h.request(http.MethodPost, "/events", `{"customer":"b","action":"opt_in","data":{"email":"b@shop.test"}}`)
	r.Header["Idempotency-Key"] = []string{"k-1", "k-2"}
	require.Equal(t, http.StatusBadRequest, h.signed(h.key, r).status)
}

// TestPatternsInWords: a refusal says what is wanted, in the caller's language, and shows no expression.
func TestPatternsInWords(t *testing.T) {
	h := open(t)
	for language, message := range map[string]string{
		"en": "Property currency does not have the expected form: three capital letters, such as EUR",
		"es": "La propiedad currency no tiene la forma esperada: tres letras mayúsculas, como EUR",
		"fr": "La propriété currency n’a pas la forme attendue : trois lettres majuscules, comme EUR",
		"hu": "A(z) currency mező nem a várt alakú; az elvárt alak: három nagybetű, például EUR",
	} {
		a := h.post("/admin/settings", `{"currency":"euro"}`, "Accept-Language", language)
		require.Equal(t, http.StatusBadRequest, a.status, a.body)
		require.Equal(t, message, a.fault(t).Message)
	}
}

// TestJoinersAtTheDoor: an id may hold what its writing needs, a code and what cannot be seen may not.
func TestJoinersAtTheDoor(t *testing.T) {
	h := open(t)
	h.does("/events", `{"customer":"👩\u200d💻","action":"opt_in","data":{"email":"c@shop.test","external_ids":{"crm":"می\u200cخواهم"}}}`)
	require.Equal(t, http.StatusOK, h.get("/customers/%F0%9F%91%A9%E2%80%8D%F0%9F%92%BB").status)
	line := `{"customer":"👩\u200d💻","action":"checkout","data":{"transaction_id":"T-NUMBER","total":1,"items":[{"product_id":"PRODUCT","product_name":"A","product_url":"https://shop.test/a","quantity":1,"subtotal":1}]}}`
	purchase := func(number, product string) string {
		return strings.NewReplacer("NUMBER", number, "PRODUCT", product).Replace(line)
	}
	h.does("/events", purchase("1", `👩\u200d💻`))

	for _, body := range []string{
		purchase("2", `p\u200b1`), purchase(`\u200d`, "p"), `{"customer":"a\u200d","action":"opt_in","data":{"email":"b@shop.test"}}`,
		`{"customer":"👩\u200d💻","action":"coupon_create","data":{"code":"👩\u200d💻","value":1}}`,
	} {
		require.Equal(t, http.StatusBadRequest, h.post("/events", body).status, body)
	}
}

// TestBlanksAroundWhatIsAskedFor: what a path, a filter, a question or a condition names is found whatever blanks stand around it.
func TestBlanksAroundWhatIsAskedFor(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		h := openOn(t, address)
		h.makes("/entities/core/customer-list", `{"id":" spring ","name":"Spring"}`)
		h.makes("/entities/segments/segment", `{"id":"ada","name":"Ada","condition":"customer.id == \" ada \""}`)
		h.makes("/entities/automation/campaign", `{"name":"One","trigger":"checkout","status":"active","condition":"transaction.id == \"T-1 \" and any(transaction.items, .product_id == \" p \")",
			"effects":[{"type":"points","points":7}]}`)
		h.makes("/entities/rewards/reward", `{"id":"theirs","title":{"en":"Theirs"},"type":"custom","points":1,"segments":[" ada"]}`)
		h.does("/events", `{"customer":"ada","action":"opt_in","data":{"email":"ada@shop.test","external_ids":{" crm\u2003":" 42"}}}`)
		a := h.post("/events", `{"customer":"ada","action":"profile","data":{"external_ids":{"till":"1"," till":"2"}}}`)
		require.Equal(t, http.StatusBadRequest, a.status, a.body)
		h.does("/events", `{"customer":"ada","action":"checkout","data":{"transaction_id":" T-1","total":10,"store":" pecs ",
			"items":[{"product_id":"p ","product_name":"P","product_url":"https://shop.test/p","quantity":1,"subtotal":10}]}}`)
		require.Equal(t, "17", fmt.Sprint(data(t, h.sees("/customers/ada"))["spendable"]))

		for _, path := range []string{
			"/customers/crm%20:%C2%A042", "/customers/ada/transactions/%20T-1", "/entities/core/customer-list/spring%20", "/entities/core/transaction/T-1%20",
		} {
			require.Equal(t, http.StatusOK, h.get(path).status, path)
		}

		for path, found := range map[string]int{
			"/customers?id=%20ada": 1, "/customers?id.in=x,%E2%80%83crm:%2042%20": 1, "/customers/ada/transactions/-/search?id=%20T-1%20": 1,
			"/customers/ada/transactions?id=T-1+": 1, "/customers/ada/transactions?id.nin=+T-1,x": 0, "/entities/core/customer-list?id=%20spring": 1,
			"/entities/core/customer-list?id.ne=%20spring": 0, "/entities/core/transaction?customer=+ada": 1, "/entities/core/transaction?customer=crm:+42&id=T-1+": 1,
			"/rewards?customer=%20ada%20": 1, "/coupons?customer=%20ada&pool=+p": 0, "/customers?list=%20spring": 0,
			"/customers?id=+": 0, "/entities/core/customer-list?id=+": 0,
		} {
			a := h.sees(path)
			list, _ := a.json(t)["data"].([]any)
			require.Len(t, list, found, "%s: %s", path, a.body)
		}

		require.Equal(t, http.StatusOK, h.post("/events/preview", `{"customer":"42 ","external_id":" crm","action":"point_add","data":{"points":1}}`).status)
		h.hook(newReceiver(t), `["event.point_add"]`, `,"filter":"customer.id == \" ada\""`)
	})
}

// TestWhatConditionsTakeForIDs: every attribute of events of which the documents take the blanks off is compared without them.
func TestWhatConditionsTakeForIDs(t *testing.T) {
	doc, err := openapi.Load("events")
	require.NoError(t, err)
	names := map[string]bool{}
	for _, schema := range doc.Components.Schemas {
		for name, property := range schema.Value.Properties {
			items := property.Value.Items
			if property.Ref == "" && property.Value.Extensions["x-blanks"] == "trimmed" || items != nil && items.Value.Extensions["x-blanks"] == "trimmed" {
				names[name] = true
			}
		}
	}

	require.Greater(t, len(names), 10)
	for name := range names {
		c, err := condition.Compile(`event.data.` + name + ` == " x "`)
		require.NoError(t, err)
		holds, err := c.Holds(&condition.Facts{Event: condition.Event{Data: map[string]any{name: "x"}}})
		require.NoError(t, err)
		require.True(t, holds, name)
	}
}
