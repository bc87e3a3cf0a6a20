package server_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// rewardCatalogue: the catalogue, and what one customer may claim of it.
func (h *house) rewardCatalogue() {
	h.t.Helper()
	t := h.t
	for query, want := range map[string]string{
		"":                                      "once rich-only bare gone coffee mug dear",
		"status=scheduled":                      "soon",
		"type=physical":                         "gone mug",
		"points.gte=200":                        "coffee mug dear",
		"stores=vienna-01":                      "once rich-only bare gone mug dear",
		"cf_priority=true":                      "coffee",
		"sort=title&order=desc&limit=2":         "once bare",
		"sort=title&limit=2&offset=2":           "coffee gone",
		"customer=member-1001":                  "once coffee mug",
		"customer=member-1001&type=coupon":      "coffee",
		"customer=member-1001&status=scheduled": "",
	} {
		require.Equal(t, want, h.get("/rewards?"+query).ids(t), query)
	}

	coffee := entry(t, h.get("/rewards", "Accept-language", "hu"), "coffee")
	require.Equal(t, "Ingyen kávé 1000 <nil> <nil> <nil>", fmt.Sprint(coffee["title"], " ", coffee["in_stock"], " ", coffee["claims"], " ", coffee["_actions"], " ", coffee["obstacle"]))
	mine := entry(t, h.get("/rewards?customer=member-1001"), "coffee")
	require.Equal(t, map[string]any{"complete": map[string]any{"method": "POST", "url": "/rewards/coffee/claim"}}, mine["_actions"])
	require.Equal(t, "0 2", fmt.Sprint(mine["claims"], " ", mine["claims_left"]))
	refused(t, h.get("/rewards?customer=nobody"), http.StatusNotFound, 160212)

	require.Equal(t, "completed", data(t, h.get("/rewards/over"))["status"])
	require.Equal(t, "rich-only", data(t, h.get("/rewards/rich-only"))["id"], "the catalogue is nobody's")
	refused(t, h.get("/rewards/none"), http.StatusNotFound, 160320)

	limited := h.newKey(admin.KeyChange{APIs: &[]string{"display"}})
	require.Equal(t, http.StatusForbidden, h.signed(limited, h.request(http.MethodGet, "/rewards", "")).status)
}

// TestClaimAndRedeem: a claim at the counter, and the moment it is handed out.
//
// spec: service.api.rewards
func TestClaimAndRedeem(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := rewardsOf(t, url)
		const claim = "/rewards/coffee/claim"
		require.Equal(t, []string{"customer"}, refused(t, h.post(claim, `{}`), http.StatusBadRequest, 0).fields())
		refused(t, h.post(claim, `{"customer":"nobody"}`), http.StatusNotFound, 160212)
		refused(t, h.post("/rewards/none/claim", `{"customer":"member-1001"}`), http.StatusNotFound, 160320)
		refused(t, h.post("/rewards/dear/claim", `{"customer":"member-1001"}`), http.StatusUnprocessableEntity, 120241)
		a := h.does(claim, `{"customer":"member-1001"}`, "Idempotency-Key", "k")
		require.Equal(t, a.body, h.post(claim, `{"customer":"member-1001"}`, "Idempotency-Key", "k").body)
		claimed := a.json(t)
		code := claimed["coupon"].(map[string]any)["code"]
		require.Equal(t, "200 800", fmt.Sprint(claimed["spent"], " ", h.spendable()))

		at := "/rewards/claims/" + claimed["id"].(string)
		stored := data(t, h.get(at, "Accept-language", "hu"))
		require.Equal(t, map[string]any{
			"id": claimed["id"], "reward": "coffee", "title": "Ingyen kávé", "status": "claimed", "customer": map[string]any{"id": "member-1001"},
			"claimed_at": claimed["last_claimed_at"], "updated_at": claimed["last_claimed_at"],
		}, only(stored, "id", "reward", "title", "status", "customer", "claimed_at", "updated_at"))

		require.Equal(t, code, stored["coupon"].(map[string]any)["code"])

		first := h.post(at+"/redeem", `{"transaction_id":"T-1"}`, "Idempotency-Key", "r")
		done := succeeded(t, first)
		require.Equal(t, first.body, h.post(at+"/redeem", `{"transaction_id":"T-1"}`, "Idempotency-Key", "r").body)
		require.Equal(t, "redeemed", done["status"])
		require.NotEmpty(t, done["event"])
		coupon := done["coupon"].(map[string]any)
		require.Equal(t, "redeemed", coupon["status"])
		require.Equal(t, done["updated_at"], coupon["redeemed_at"])
		again := data(t, h.get(at))
		delete(done, "event")
		require.Equal(t, done, again)
		require.Equal(t, []string{"claim_id"}, refused(t, h.form(at+"/redeem", ""), http.StatusUnprocessableEntity, 190040).fields())
		refused(t, h.post("/events", fmt.Sprintf(`{"customer":"member-1001","action":"coupon_redeem","data":{"code":%q}}`, code)), http.StatusNotFound, 1601)

		for _, unknown := range []string{"x", "0197b3a2-6d0c-7c55-9a3e-1f0a4c1d2e01"} {
			refused(t, h.get("/rewards/claims/"+unknown), http.StatusNotFound, 190221)
			refused(t, h.post("/rewards/claims/"+unknown+"/redeem", ""), http.StatusNotFound, 190221)
		}

		used := h.post(claim, `{"customer":"member-1001"}`).json(t)
		h.happens("member-1001", "coupon_redeem", fmt.Sprintf(`{"code":%q}`, used["coupon"].(map[string]any)["code"]))
		refused(t, h.post("/rewards/claims/"+used["id"].(string)+"/redeem", ""), http.StatusUnprocessableEntity, 190220)
		h.proven()
	})
}

// TestClaimsFollowTheirCustomer: a claim belongs to the customer who has it now.
func TestClaimsFollowTheirCustomer(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := rewardsOf(t, url)
		h.enrol("member-1002")
		id := func(customer string) string {
			return h.post("/rewards/once/claim", `{"customer":"`+customer+`"}`).json(t)["id"].(string)
		}
		merged := "/rewards/claims/" + id("member-1001")
		own := "/rewards/claims/" + id("member-1002")
		require.Equal(t, http.StatusOK, h.post(member+"/merge", `{"target":"member-1002"}`).status)
		require.Equal(t, map[string]any{"id": "member-1002"}, data(t, h.get(merged))["customer"])
		require.Equal(t, "1", fmt.Sprint(data(t, h.get(merged))["award"]))
		require.Equal(t, map[string]any{"id": "member-1002"}, succeeded(t, h.post(merged+"/redeem", ""))["customer"])
		h.happens("member-1002", "suspend", `{}`)
		refused(t, h.post(own+"/redeem", ""), http.StatusUnprocessableEntity, 110003)
		h.happens("member-1002", "opt_out", `{}`)
		left := data(t, h.get(own))
		require.Nil(t, left["customer"], "who left is not named")
		require.Equal(t, "claimed", left["status"])
		refused(t, h.post(own+"/redeem", ""), http.StatusUnprocessableEntity, 190041)
		h.proven()
	})
}
