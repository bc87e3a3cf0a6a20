package server_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// quotes asks for the offers of a cart, and writes what came: id and amount, or the
// reason, one after the other.
func (h *house) quotes(body string) string {
	h.t.Helper()
	a := h.does("/offers", body)
	var told []string
	for _, e := range a.json(h.t)["data"].([]any) {
		q := e.(map[string]any)
		about := fmt.Sprint(q["amount"])
		if q["is_eligible"] == false {
			require.Equal(h.t, "0", about, "what does not fit takes nothing off")
			about = fmt.Sprint(q["reason"])
		} else {
			require.NotContains(h.t, q, "reason")
		}
		told = append(told, fmt.Sprint(q["id"], " ", about))
	}

	return strings.Join(told, ", ")
}

func (h *house) programmeOffers(t *testing.T) {
	h.entity("offers/offer", `{"id":"items","name":{"en":"Items","hu":"Termékek"},"type":"combined","weight":20,"required_items":[{"type":"product","id":"p-1"}],"required_match":"any","eligible_items":[{"type":"category","id":"Coffee","min_quantity":2}],"discount":{"type":"fixed_price","value":2.5},"stores":["budapest-01"],"segments":["regulars"],"ends_at":"2099-01-01","cf_banner":"red"}`)
	items := entryOf(t, h.entries("/offers", "Accept-language", "hu"), "items")
	require.Equal(t, "Termékek", items["name"])
	require.Equal(t, items, succeeded(t, h.get("/offers/items", "Accept-language", "hu")))
	require.Equal(t, "any active 20 red [budapest-01] [regulars]", fmt.Sprint(
		items["required_match"], " ", items["status"], " ", items["weight"], " ", items["cf_banner"], " ", items["stores"], " ", items["segments"]))
	require.Equal(t, "map[type:fixed_price value:2.5]", fmt.Sprint(items["discount"]))
	big := succeeded(t, h.get("/offers/big-cart"))
	require.Equal(t, "50 500 3", fmt.Sprint(big["min_total"], " ", big["max_redemptions"], " ", big["max_per_customer"]))
	for _, name := range []string{"required_items", "required_match", "eligible_items", "stores", "segments", "ends_at"} {
		require.NotContains(t, big, name)
	}

	refused(t, h.get("/offers/none"), http.StatusNotFound, 190025)
	require.Equal(t, http.StatusOK, h.post("/entities/offers/offer/items/archive", "").status)
	refused(t, h.get("/offers/items"), http.StatusNotFound, 190025)
	require.Equal(t, "big-cart", ids(h.entries("/offers")))
}

// TestQuotes asks with carts of every kind: what fits, exactly what it takes off, why
// something does not fit, and in which order.
//
// spec: service.api.offers
func TestQuotes(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		for _, e := range []string{
			"stores/store " + `{"id":"s1","name":"First"}`,
			"segments/segment " + `{"id":"rich","name":"Rich","condition":"customer.score >= 10"}`,
			"offers/offer " + `{"id":"percent","name":{"en":"O"},"type":"cart","weight":5,"min_total":50,"discount":{"type":"percent_discount","value":33.3333}}`,
			"offers/offer " + `{"id":"bags","name":{"en":"O"},"type":"item","weight":5,"eligible_items":[{"type":"product","id":"p-501","min_quantity":2}],"discount":{"type":"fixed_price","value":25}}`,
			"offers/offer " + `{"id":"store","name":{"en":"O"},"type":"cart","weight":9,"discount":{"type":"fixed_discount","value":5},"stores":["s1"]}`,
			"offers/offer " + `{"id":"rich","name":{"en":"O"},"type":"cart","weight":1,"discount":{"type":"fixed_discount","value":1},"segments":["rich"]}`,
			"offers/offer " + `{"id":"once","name":{"en":"O"},"type":"cart","discount":{"type":"fixed_discount","value":2},"max_per_customer":1}`,
			"offers/offer " + `{"id":"last","name":{"en":"O"},"type":"cart","discount":{"type":"fixed_discount","value":2},"max_redemptions":1}`,
			"offers/offer " + `{"id":"soon","name":{"en":"O"},"type":"cart","weight":99,"discount":{"type":"fixed_discount","value":2},"starts_at":"2099-01-01"}`,
		} {
			kind, body, _ := strings.Cut(e, " ")
			h.entity(kind, body)
		}

		for _, id := range []string{"member-1001", "member-1002"} {
			h.enrol(id)
		}

		tell := func(body string) {
			h.does("/events", body)
		}
		tell(`{"customer":"member-1002","action":"point_add","data":{"points":10}}`)
		const cart = `"cart":{"items":[{"product_id":"p-501","quantity":2,"price":30},{"product_id":"p-733","quantity":1,"subtotal":39.99}]}`

		require.Equal(t, "percent 33.33, bags 10, last 2, once 2", h.quotes(`{`+cart+`}`), "by weight, then amount, then id")
		require.Equal(t, "store 5, percent 33.33, bags 10, last 2, once 2", h.quotes(`{"store":"First",`+cart+`}`), "a store by its name")
		require.Equal(t, "store 5, percent 33.33, bags 10, rich 1, last 2, once 2", h.quotes(`{"customer":"member-1002","store":"s1",`+cart+`}`))
		require.Equal(t, "percent 33.33, bags 10, last 2, once 2, store store, rich segment",
			h.quotes(`{"customer":"member-1001","store":"s2","eligible_only":false,`+cart+`}`), "who cannot have it comes last")
		require.Equal(t, "percent 33.33, last 2, once 2, store store, bags cart, rich segment",
			h.quotes(`{"eligible_only":false,"cart":{"total":104.89,"shipping":4.90}}`), "a total alone")
		require.Equal(t, "last 0.01, once 0.01, store store, bags cart, percent cart, rich segment", h.quotes(`{"eligible_only":false,"cart":{"total":0.01}}`))
		require.Empty(t, h.quotes(`{"cart":{}}`), "an empty cart")
		require.Empty(t, h.quotes(`{"cart":{"total":5,"shipping":5}}`), "nothing but shipping")

		tell(`{"customer":"member-1001","action":"offer_redeem","data":{"offer":"once"}}`)
		tell(`{"customer":"member-1002","action":"offer_redeem","data":{"offer":"last"}}`)
		require.Equal(t, "percent 33.33, bags 10, store store, rich segment, last used_up, once limit",
			h.quotes(`{"customer":"member-1001","eligible_only":false,`+cart+`}`))
		require.Equal(t, "percent 33.33, bags 10, once 2", h.quotes(`{`+cart+`}`), "of nobody in particular")

		form := h.form("/offers", "customer=member-1002&eligible_only=true&cart[items][0][product_id]=p-501&cart[items][0][quantity]=2&cart[items][0][price]=30")
		require.Equal(t, "percent", form.json(t)["data"].([]any)[0].(map[string]any)["id"])
		yes := true
		reader := h.newKey(admin.KeyChange{ReadOnly: &yes})
		require.Equal(t, http.StatusOK, h.signed(reader, h.request(http.MethodPost, "/offers", `{"cart":{}}`, "Content-Type", jsonType)).status, "it only reads")
	})
}

// TestQuoteRefusals: what cannot be read is refused and named.
func TestQuoteRefusals(t *testing.T) {
	h := open(t, patient)
	for body, field := range map[string]string{
		`{}`:                                  "cart",
		`{"cart":{"x":1}}`:                    "cart.x",
		`{"cart":{"items":[{"quantity":1}]}}`: "cart.items[0].product_id",
		`{"cart":{"items":[{"product_id":"p"}]}}`:                             "cart.items[0].quantity",
		`{"cart":{"items":[{"product_id":"p","quantity":0}]}}`:                "cart.items[0].quantity",
		`{"cart":{"items":[{"product_id":"p","quantity":1.5}]}}`:              "cart.items[0].quantity",
		`{"cart":{"items":[{"product_id":"p","quantity":1,"price":-1}]}}`:     "cart.items[0].price",
		`{"cart":{"items":[{"product_id":"p","quantity":1,"prise":1}]}}`:      "cart.items[0].prise",
		`{"cart":{"total":900000000000.0001}}`:                                "cart.total",
		`{"cart":{"shipping":"free"}}`:                                        "cart.shipping",
		`{"customer":5,"cart":{}}`:                                            "customer",
		`{"eligible_only":"perhaps","cart":{}}`:                               "eligible_only",
		`{"cart":{"items":[{"product_id":"p","quantity":9007199254740992}]}}`: "cart.items[0].quantity",
	} {
		a := h.post("/offers", body)
		require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", body, a.body)
		require.Equal(t, []string{field}, a.fault(t).fields(), body)
	}

	require.Equal(t, []string{"customer"}, refused(t, h.post("/offers", `{"customer":"nobody","cart":{}}`), http.StatusNotFound, 160212).fields())
	require.Equal(t, http.StatusOK, h.post("/admin/modules/offers", `{"enabled":false}`).status)
	refused(t, h.post("/offers", `{"cart":{}}`), http.StatusNotFound, 160600)
}

// quotesAgreeWithRedeeming: an offer that a quote calls eligible is redeemed, and
// one that it does not, for what the customer is or has done, is refused: for customers
// in every state, until every limit is reached.
func (h *house) quotesAgreeWithRedeeming(t *testing.T) {
	h.entity("offers/offer", `{"id":"twice","name":{"en":"O"},"type":"cart","discount":{"type":"fixed_price","value":1},"max_per_customer":2}`)
	h.entity("offers/offer", `{"id":"five","name":{"en":"O"},"type":"cart","discount":{"type":"fixed_price","value":1},"max_redemptions":5}`)
	seen := map[string]int{}
	for _, customer := range h.people("q-") {
		for range 3 {
			quoted := h.does("/offers", `{"customer":"`+customer+`","eligible_only":false,"cart":{"total":100}}`)
			for _, e := range quoted.json(t)["data"].([]any) {
				q := e.(map[string]any)
				a := h.post("/events", fmt.Sprintf(`{"customer":"%s","action":"offer_redeem","data":{"offer":"%s"}}`, customer, q["id"]))
				want := http.StatusOK
				if q["is_eligible"] == false {
					want = http.StatusUnprocessableEntity
				}
				require.Equal(t, want, a.status, "%s %v: %s", customer, q, a.body)
				seen[fmt.Sprint(q["reason"])]++
			}
		}
	}

	for _, reason := range []string{"<nil>", "limit", "used_up", "segment", "customer"} {
		require.NotZero(t, seen[reason], reason)
	}
}

// cartDraw is a cart as a client writes it, with its exact costs beside it.
type cartDraw struct {
	body string
	most *big.Rat // what its goods cost
}

// drawMoney draws the text of an amount, the ends of the range among them.
func drawMoney(t *rapid.T, label string) (string, *big.Rat) {
	n := rapid.OneOf(rapid.Int64Range(0, 20_000), rapid.Int64Range(0, 9_000_000_000_000_000), rapid.Just(int64(9_000_000_000_000_000))).Draw(t, label)
	r := big.NewRat(n, 10_000)
	return strings.TrimSuffix(strings.TrimRight(r.FloatString(4), "0"), "."), r
}

func drawCart(t *rapid.T) cartDraw {
	sum := new(big.Rat)
	lines := []any{}
	for i := range rapid.IntRange(0, 4).Draw(t, "lines") {
		quantity := rapid.OneOf(rapid.Int64Range(1, 5), rapid.Int64Range(1, 9007199254740991)).Draw(t, "quantity")
		line := map[string]any{
			"product_id": rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "product"), "quantity": quantity,
			"product_category": rapid.SampledFrom([]string{"x", "y > z", "x, z"}).Draw(t, "category"),
		}

		price, perPiece := drawMoney(t, "price"+strconv.Itoa(i))
		off, discount := drawMoney(t, "discount")
		line["price"], line["discount"] = json.Number(price), json.Number(off)
		cost := new(big.Rat).Sub(perPiece, discount)
		cost.Mul(cost, new(big.Rat).SetInt64(quantity))
		if rapid.Bool().Draw(t, "with a subtotal") {
			text, subtotal := drawMoney(t, "subtotal")
			line["subtotal"], cost = json.Number(text), subtotal
		}

		if cost.Sign() > 0 {
			sum.Add(sum, cost)
		}

		lines = append(lines, line)
	}

	shipping, freight := drawMoney(t, "shipping")
	off, discount := drawMoney(t, "off the cart")
	cart := map[string]any{"items": lines, "shipping": json.Number(shipping), "discount": json.Number(off)}
	most := sum.Sub(sum, discount)
	if rapid.Bool().Draw(t, "with a total") {
		text, total := drawMoney(t, "total")
		cart["total"], most = json.Number(text), total.Sub(total, freight)
	}

	if most.Sign() < 0 {
		most = new(big.Rat)
	}

	body, err := json.Marshal(map[string]any{"eligible_only": false, "cart": cart})
	require.NoError(t, err)
	return cartDraw{string(body), most}
}

// TestQuotesNeverExceedTheCart: whatever the cart, what any offer takes off lies
// between nothing and what its goods cost, by an account of its own over exact
// fractions.
func TestQuotesNeverExceedTheCart(t *testing.T) {
	h := open(t, patient)
	made := 0
	for _, discount := range []string{"fixed_price", "fixed_discount", "percent_discount"} {
		for _, value := range []string{"0", "0.0001", "33.3333", "100", "900000000000"} {
			if discount == "percent_discount" && value == "900000000000" {
				continue
			}
			for _, rest := range []string{
				`"type":"cart"`, `"type":"cart","min_total":10`,
				`"type":"item","eligible_items":[{"type":"product","id":"a"},{"type":"category","id":"z","min_quantity":2}]`,
				`"type":"combined","required_items":[{"type":"product","id":"b"}],"eligible_items":[{"type":"category","id":"x"}]`,
			} {
				made++
				h.entity("offers/offer", fmt.Sprintf(`{"id":"o%d","name":{"en":"O"},%s,"discount":{"type":"%s","value":%s}}`, made, rest, discount, value))
			}
		}
	}

	rapid.Check(t, func(t *rapid.T) {
		cart := drawCart(t)
		a := h.does("/offers", cart.body)
		var answer struct {
			Data []struct {
				ID       string      `json:"id"`
				Eligible bool        `json:"is_eligible"`
				Amount   json.Number `json:"amount"`
			} `json:"data"`
		}

		require.NoError(t, json.Unmarshal([]byte(a.body), &answer))
		require.Len(t, answer.Data, made)
		for _, q := range answer.Data {
			amount, ok := new(big.Rat).SetString(q.Amount.String())
			require.True(t, ok, q.Amount)
			require.GreaterOrEqual(t, amount.Sign(), 0, "%s %s: %s", q.ID, q.Amount, cart.body)
			require.LessOrEqual(t, amount.Cmp(cart.most), 0, "%s takes %s off %s: %s", q.ID, q.Amount, cart.most.FloatString(4), cart.body)
			require.True(t, q.Eligible || amount.Sign() == 0, "%s does not fit: %s", q.ID, cart.body)
		}
	})
}
