package server_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestMerge joins two accounts: the target has everything and answers for both.
func TestMerge(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		h.enrol("member-1001")
		h.enrol("member-1002")
		h.enrol("member-1003")
		for _, event := range []string{
			`{"customer":"member-1001","action":"point_add","data":{"points":100}}`,
			`{"customer":"member-1002","action":"point_add","data":{"points":80}}`,
			`{"customer":"member-1002","action":"point_spend","data":{"points":30}}`,
			`{"customer":"member-1002","action":"profile","data":{"external_ids":{"crm":"000512"},"first_name":"Other"}}`,
			`{"customer":"member-1002","action":"coupon_create","data":{"code":"C-1002","value":5,"type":"amount"}}`,
		} {
			h.does("/events", event)
		}

		const merge = "/customers/member-1002/merge"
		require.Equal(t, []string{"target"}, refused(t, h.post(merge, `{}`), http.StatusBadRequest, 0).fields())
		refused(t, h.post(merge, `{"target":"nobody"}`), http.StatusNotFound, 160212)
		unknown := refused(t, h.post("/customers/nobody/merge", `{"target":"member-1001"}`), http.StatusNotFound, 160212)
		require.Equal(t, []string{"customer_id"}, unknown.fields())
		itself := refused(t, h.post(merge, `{"target":"member-1002"}`), http.StatusUnprocessableEntity, 190163)
		require.Equal(t, []string{"customer_id"}, itself.fields())

		merged := h.post(merge, `{"target":"member-1001"}`, "Idempotency-Key", "k")
		got := succeeded(t, merged)
		require.NotEmpty(t, got["id"])
		customer := got["customer"].(map[string]any)
		require.Equal(t, "member-1001 180 30 150", fmt.Sprint(customer["id"], " ", customer["score"], " ", customer["spent"], " ", customer["spendable"]))
		require.Equal(t, merged.body, h.post(merge, `{"target":"member-1001"}`, "Idempotency-Key", "k").body)

		for _, id := range []string{"member-1002", "crm:000512"} {
			read := succeeded(t, h.get("/customers/"+id))
			require.Equal(t, "member-1001 180", fmt.Sprint(read["id"], " ", read["score"]), id)
			require.NotEqual(t, "Other", read["first_name"], "the target's profile stays")
		}

		require.Len(t, succeeded(t, h.get("/customers/member-1002/points"))["lots"], 2)
		require.Equal(t, map[string]any{"id": "member-1001"}, succeeded(t, h.get("/coupons/C-1002"))["customer"])
		late := h.post("/events", `{"customer":"member-1002","action":"point_add","data":{"points":1}}`)
		require.Equal(t, "181", fmt.Sprint(late.json(t)["customer"].(map[string]any)["score"]))

		again := refused(t, h.post(merge, `{"target":"member-1003"}`), http.StatusUnprocessableEntity, 190040)
		require.Equal(t, []string{"customer_id"}, again.fields())
		refused(t, h.post("/events", `{"customer":"member-1001","action":"merge","data":{"source":"member-1003"}}`), http.StatusUnprocessableEntity, 190044)
	})
}

func TestVerify(t *testing.T) {
	h := open(t)
	h.enrol("member-1001")
	refused(t, h.post("/customers/member-1001/verify", ""), http.StatusNotFound, 160600)
	require.Equal(t, http.StatusOK, h.post("/admin/modules/customer_login", `{"enabled":true}`).status)
	got := succeeded(t, h.post("/customers/member-1001/verify", ""))
	require.Equal(t, "member-1001", got["customer"])
	require.NotEmpty(t, got["id"])
	require.NotEmpty(t, got["verified_at"])
	refused(t, h.post("/customers/nobody/verify", ""), http.StatusNotFound, 160212)
}
