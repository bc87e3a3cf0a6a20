package server_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestCodesInOtherLetters: a code is found whatever the case of its letters, wherever it is typed, and shown as it was made.
func TestCodesInOtherLetters(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := wallet(t, url)
		require.Equal(t, "GIFT", data(t, h.get("/coupons/gift"))["code"])
		require.Equal(t, "S-1", data(t, h.get("/coupons/%20s-1%20"))["code"])
		require.Equal(t, http.StatusNotFound, h.get("/coupons/gif").status)
		require.Equal(t, "SHIP", sortedOf(t, h.get(member+"/coupons?code=ship"), "code"))
		require.Equal(t, "GIFT SHIP", sortedOf(t, h.get(member+"/coupons?code.in=ship,Gift,theirs"), "code"))

		require.Equal(t, []string{"data.code"}, refused(t, h.post("/events", `{"customer":"member-1002","action":"coupon_create","data":{"code":"gift","value":1}}`), http.StatusConflict, 190033).fields())
		a := h.post("/coupon-pools/spring/codes", `{"codes":["N-1","n-2","n-1"]}`)
		require.Equal(t, http.StatusBadRequest, a.status, a.body)
		require.Equal(t, []string{"codes[2]"}, a.fault(t).fields())
		require.Equal(t, []string{"codes[1]"}, refused(t, h.post("/coupon-pools/spring/codes", `{"codes":["N-1","s-3"]}`), http.StatusConflict, 190033).fields())
		require.Equal(t, http.StatusNotFound, h.get("/coupons/n-1").status, "all or none")

		h.happens("member-1001", "coupon_redeem", `{"code":"ship"}`)
		require.Equal(t, "redeemed", data(t, h.get("/coupons/Ship"))["status"])
		h.happens("member-1001", "checkout", `{"transaction_id":"L-1","total":10,"currency":"USD","coupon_code":"gift","coupons":["GIFT","Gift"]}`)
		card := data(t, h.get("/coupons/GIFT"))
		require.Equal(t, "20", oneLine(t, card["balance"]), "50, less 20 and 10: used once")
	})
}
