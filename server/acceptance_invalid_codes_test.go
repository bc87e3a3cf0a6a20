package server_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// saleWith is a purchase with an unknown coupon.
func saleWith(transaction string) string {
	return `{"customer":"ada","action":"checkout","data":{"transaction_id":"` + transaction + `","total":60,"coupons":["NONE"],"offers":["none"]}}`
}

// TestInvalidCodes: refused by default; with record the sale is there, and its answer,
// its repetition, a bulk and a preview tell what could not be used, in the caller's
// language.
func TestInvalidCodes(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	require.Contains(t, h.get("/admin/modules/incentivized_purchase").body, `"invalid_codes":"refuse"`)
	refused := h.post("/events", saleWith("T-1"))
	require.Equal(t, http.StatusNotFound, refused.status, refused.body)
	require.Equal(t, []string{"data.coupons[0]"}, refused.fault(t).fields())
	require.Equal(t, http.StatusOK, h.post("/admin/modules/incentivized_purchase", `{"config":{"invalid_codes":"record"}}`).status)
	require.Equal(t, http.StatusBadRequest, h.post("/admin/modules/incentivized_purchase", `{"config":{"invalid_codes":"ignore"}}`).status)

	warned := func(a answer) string {
		require.Equal(t, http.StatusOK, a.status, a.body)
		out, err := json.Marshal(a.json(t)["warnings"])
		require.NoError(t, err)
		return string(out)
	}

	fields := func(a answer) (list []string) {
		for _, w := range a.json(t)["warnings"].([]any) {
			list = append(list, w.(map[string]any)["field"].(string))
		}
		return list
	}

	require.Equal(t, []string{"data.coupons[0]", "data.offers[0]"}, fields(h.post("/events/preview", saleWith("T-1"))))
	first := h.post("/events", saleWith("T-1"), "Idempotency-Key", "k", "Accept-Language", "hu")
	require.Equal(t, []string{"data.coupons[0]", "data.offers[0]"}, fields(first))
	require.NotContains(t, warned(first), "Coupon not found", "in the caller's language")
	again := h.post("/events", saleWith("T-1"), "Idempotency-Key", "k", "Accept-Language", "hu")
	require.Equal(t, first.body, again.body)
	require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	require.Contains(t, warned(h.post("/events", saleWith("T-2"))), `{"code":1601,"field":"data.coupons[0]","message":"Coupon not found"}`)
	require.Len(t, h.post("/events/preview", saleWith("T-3")).json(t)["warnings"], 2)
	require.NotContains(t, h.post("/events", checkout("T-4")).body, "warnings")

	bulk := h.does("/events/bulk", `{"events":[`+checkout("T-5")+`,`+saleWith("T-6")+`]}`)
	results := bulk.json(t)["results"].([]any)
	require.NotContains(t, results[0], "warnings")
	warning := results[1].(map[string]any)["warnings"].([]any)[0].(map[string]any)
	require.Equal(t, "events[1].data.coupons[0]", warning["field"])
	require.Equal(t, "Coupon not found", warning["message"])
}

// TestAutoRedeem: a pool says whether a checkout redeems its codes, in both APIs.
func TestAutoRedeem(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	h.makes("/coupon-pools", `{"id":"hand","name":"By hand","source":"uploaded","auto_redeem":false,"coupon":{"type":"amount","value":5}}`)
	h.makes("/coupon-pools/hand/codes", `{"codes":["H-1"]}`)
	require.Equal(t, false, h.get("/coupon-pools/hand").json(t)["data"].(map[string]any)["auto_redeem"])
	sale := func(transaction string) answer {
		return h.post("/events", `{"customer":"ada","action":"checkout","data":{"transaction_id":"`+transaction+`","total":60,"coupon_code":"H-1"}}`)
	}
	require.NotContains(t, sale("T-1").body, "coupon_redeem")
	require.Contains(t, h.get("/coupons/H-1").body, `"status":"created"`)
	require.Equal(t, http.StatusOK, h.post("/entities/coupons/pool/hand", `{"auto_redeem":true}`).status)
	require.Contains(t, sale("T-2").body, "coupon_redeem")
	require.Equal(t, http.StatusBadRequest, h.post("/entities/coupons/pool/hand", `{"auto_redeem":"no"}`).status)
}

// TestAmountOfAnotherType: an amount is a gift card's; with another type both are named.
func TestAmountOfAnotherType(t *testing.T) {
	h := open(t)
	h.enrol("ada")
	a := h.post("/events", `{"customer":"ada","action":"coupon_create","data":{"code":"X","value":150,"amount":10,"type":"percentage"}}`)
	require.Equal(t, http.StatusBadRequest, a.status, a.body)
	require.Equal(t, []string{"data.amount", "data.type"}, a.fault(t).fields())
	require.Equal(t, "Property amount cannot be combined with type = percentage", a.fault(t).Message)
	require.Equal(t, http.StatusNotFound, h.get("/coupons/X").status)
}
