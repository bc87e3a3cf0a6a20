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

const (
	uploadPool   = `{"id":"spring","name":"Spring","source":"uploaded","coupon":{"type":"amount","value":5,"currency":"EUR","name":{"en":"Five off","hu":"Öt le"}}}`
	generatePool = `{"id":"auto","name":"Auto","source":"generated","pattern":"G-######","coupon":{"type":"free_shipping"}}`
)

// TestCoupon follows one code from the pool to the till.
func TestCoupon(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		h.enrol("member-1001")
		require.Equal(t, http.StatusCreated, h.post("/entities/coupons/pool", uploadPool).status)
		a := h.makes("/coupon-pools/spring/codes", `{"codes":["SPRING 1/2"]}`)
		require.Equal(t, "map[added:1 available:1 pool:spring]", fmt.Sprint(data(t, a)))

		const path = "/coupons/SPRING%201%2F2"
		c := succeeded(t, h.get(path))
		require.NotEmpty(t, c["created_at"])
		require.Equal(t, "map[code:SPRING 1/2 currency:EUR events:[] name:Five off pool:spring products:[] status:created stores:[] type:amount value:5]", without(c, "created_at"))
		require.Equal(t, "Öt le", succeeded(t, h.get(path, "Accept-language", "hu"))["name"])

		require.Equal(t, http.StatusCreated, h.post("/entities/rewards/reward", `{"id":"five","title":{"en":"Five"},"type":"coupon","pool":"spring"}`).status)
		h.does(member+"/activities/rewards/five/claim", "")
		c = succeeded(t, h.get(path))
		require.Equal(t, "claimed five map[id:member-1001]", fmt.Sprint(c["status"], " ", c["reward"], " ", c["customer"]))
		require.NotEmpty(t, c["claimed_at"])
		refused(t, h.post(member+"/activities/rewards/five/claim", ""), http.StatusUnprocessableEntity, 120212)

		h.does("/events", `{"customer":"member-1001","action":"coupon_redeem","data":{"code":"SPRING 1/2"}}`)
		c = succeeded(t, h.get(path))
		require.Equal(t, "redeemed", c["status"])
		require.NotEmpty(t, c["redeemed_at"])

		require.Equal(t, http.StatusOK, h.post("/events", `{"customer":"member-1001","action":"opt_out","data":{}}`).status)
		require.NotContains(t, succeeded(t, h.get(path)), "customer", "nobody is named who left")
		require.Equal(t, "SPRING 1/2", succeeded(t, h.get("/coupons/spring%201%2F2"))["code"], "in any letters")
		refused(t, h.get("/coupons/spring%201%2F3"), http.StatusNotFound, 1601)
	})
}

// TestGiftCard: a gift card shows its balance.
func TestGiftCard(t *testing.T) {
	h := open(t)
	h.enrol("member-1001")
	for _, event := range []string{
		`{"customer":"member-1001","action":"coupon_create","data":{"code":"GIFT","value":50,"amount":50,"currency":"EUR"}}`,
		`{"customer":"member-1001","action":"coupon_redeem","data":{"code":"GIFT","amount":29.5}}`,
	} {
		h.does("/events", event)
	}
	c := succeeded(t, h.get("/coupons/GIFT"))
	require.Equal(t, "gift_card partially_redeemed 50 20.5", fmt.Sprint(c["type"], " ", c["status"], " ", c["value"], " ", c["balance"]))
}

// TestGiftCardHistory: the history of a gift card says how much each event used or gave back, also the first one of a
// code without a holder. Reissuing a code uses nothing, whatever it is worth then.
func TestGiftCardHistory(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		h.enrol("member-1001")
		h.makes("/entities/coupons/pool", `{"id":"cards","name":"Cards","source":"uploaded","coupon":{"type":"gift_card","value":50,"currency":"EUR"}}`)
		h.makes("/coupon-pools/cards/codes", `{"codes":["CARD-1"]}`)
		for _, event := range []string{
			`{"customer":"member-1001","action":"checkout","data":{"transaction_id":"T-1","total":12.5,"coupon_code":"CARD-1"}}`,
			`{"customer":"member-1001","action":"coupon_redeem","data":{"code":"CARD-1","amount":30}}`,
			`{"customer":"member-1001","action":"refund","data":{"transaction_id":"T-1"}}`,
			`{"customer":"member-1001","action":"coupon_create","data":{"code":"GIFT","value":50,"amount":50}}`,
			`{"customer":"member-1001","action":"unassign_coupon","data":{"code":"GIFT"}}`,
			`{"customer":"member-1001","action":"coupon_create","data":{"code":"GIFT","value":20,"amount":20}}`,
		} {
			h.does("/events", event)
		}

		told := func(code string) (list []string) {
			for _, e := range succeeded(t, h.get("/coupons/"+code))["events"].([]any) {
				e := e.(map[string]any)
				list = append(list, fmt.Sprint(e["action"], " ", e["amount"], " ", e["balance"]))
			}
			return list
		}

		require.Equal(t, []string{"coupon_unredeem 12.5 20", "coupon_redeem 30 7.5", "coupon_redeem 12.5 37.5"}, told("CARD-1"))
		require.Equal(t, []string{"coupon_create <nil> 20", "unassign_coupon <nil> 50", "coupon_create <nil> 50"}, told("GIFT"))
	})
}

func TestAddCodes(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		for _, pool := range []string{uploadPool, generatePool} {
			require.Equal(t, http.StatusCreated, h.post("/entities/coupons/pool", pool).status)
		}

		added := func(a answer) string {
			t.Helper()
			require.Equal(t, http.StatusCreated, a.status, a.body)
			return fmt.Sprint(data(t, a)["added"], " ", data(t, a)["available"])
		}

		require.Equal(t, "2 2", added(h.post("/coupon-pools/spring/codes", `{"codes":["S-2","S-1"]}`)))
		require.Equal(t, "1 3", added(h.form("/coupon-pools/spring/codes", "codes[]=S-3")))
		require.Equal(t, "50 50", added(h.post("/coupon-pools/auto/codes", `{"generate":50}`)))
		require.Equal(t, "1 51", added(h.post("/coupon-pools/auto/codes", `{"codes":["OWN"]}`)))
		require.Equal(t, "1 4", added(h.post("/coupon-pools/spring/codes", `{"codes":["\u2003S-4 "]}`)))
		require.Equal(t, "S-4", succeeded(t, h.get("/coupons/S-4%20"))["code"])
		require.Equal(t, "free_shipping", succeeded(t, h.get("/coupons/OWN"))["type"])
		require.NotContains(t, succeeded(t, h.get("/coupons/OWN")), "value")

		const codes = "/coupon-pools/spring/codes"
		for body, field := range map[string]string{
			`{}`: "codes", `{"codes":[]}`: "codes", `{"codes":["A","A"]}`: "codes", `{"codes":["A"," A"]}`: "codes", `{"codes":["A"," "]}`: "codes[1]", `{"codes":["A",""]}`: "codes[1]",
			`{"codes":["A","-"]}`: "codes[1]", `{"codes":["A"],"generate":1}`: "generate", `{"generate":0}`: "generate", `{"generate":100001}`: "generate",
		} {
			a := h.post(codes, body)
			require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", body, a.body)
			require.Equal(t, []string{field}, a.fault(t).fields(), body)
		}

		taken := refused(t, h.post(codes, `{"codes":["S-9","OWN"]}`), http.StatusConflict, 190033)
		require.Equal(t, []string{"codes[1]"}, taken.fields())
		refused(t, h.get("/coupons/S-9"), http.StatusNotFound, 1601)
		refused(t, h.post(codes, `{"generate":5}`), http.StatusUnprocessableEntity, 190105)
		refused(t, h.post("/coupon-pools/none/codes", `{"codes":["N"]}`), http.StatusNotFound, 190025)
		require.Equal(t, http.StatusOK, h.post("/entities/coupons/pool/spring/archive", "").status)
		refused(t, h.post(codes, `{"codes":["N"]}`), http.StatusUnprocessableEntity, 190054)
	})
}

// TestPoolFill: of more codes than are added at once, those that are taken are told one
// by one, in the caller's language, and all others are added.
func TestPoolFill(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		h.makes("/coupon-pools", strings.Replace(uploadPool, `"spring"`, `"codes"`, 1))
		h.makes("/coupon-pools", generatePool)
		h.makes("/coupon-pools/auto/codes", `{"codes":["C-0007","C-2000"]}`)
		list := func(n int) string {
			codes := make([]string, n)
			for i := range codes {
				codes[i] = fmt.Sprintf("C-%04d", i)
			}
			return strings.Join(codes, `","`)
		}

		const codes = "/coupon-pools/codes/codes"
		require.Equal(t, []string{"codes[7]"}, refused(t, h.post(codes, `{"codes":["`+list(2000)+`"]}`), http.StatusConflict, 190033).fields())
		for body, field := range map[string]string{
			`{"codes":["` + list(2001) + `","-"]}`: "codes[2001]", `{"codes":["` + list(2001) + `"],"generate":2001}`: "generate",
		} {
			a := h.post(codes, body)
			require.Equal(t, http.StatusBadRequest, a.status, a.body)
			require.Equal(t, []string{field}, a.fault(t).fields())
		}

		refused(t, h.post(codes, `{"generate":2001}`), http.StatusUnprocessableEntity, 190105)
		refused(t, h.post("/coupon-pools/none/codes", `{"codes":["`+list(2001)+`"]}`), http.StatusNotFound, 190025)

		batch := begun(t, h.post(codes, `{"codes":["`+list(2001)+`"]}`), 2001)
		h.filled(batch, "done 2001 2001 2")
		status := "/coupon-pools/codes/" + batch + "/status"
		require.NotEmpty(t, succeeded(t, h.get(status))["finished_at"])
		errors := h.get(status+"/errors", "Accept-language", "hu").json(t)["data"].([]any)
		require.Len(t, errors, 2)
		require.Equal(t, "map[code:C-0007 count:1 error:map[code:190033 details:[map[field:codes[7] message:A(z) C-0007 kuponkód már foglalt]] message:A(z) C-0007 kuponkód már foglalt type:ConflictException]]", fmt.Sprint(errors[0]))
		require.Equal(t, []string{"C-0007", "C-2000"}, h.walkBoth(status+"/errors?limit=1", "code"))
		require.Equal(t, "codes 1999 1999 0 0 of late 0", stockShown(t, h.get("/coupon-pools/codes")), "a pool may have that name")

		for _, path := range []string{"/coupon-pools/codes/none/status", "/coupon-pools/codes/" + noBatch + "/status", "/v1/bulk-operation/reward/claim/" + batch + "/status"} {
			refused(t, h.get(path), http.StatusNotFound, 190240)
			refused(t, h.get(path+"/errors"), http.StatusNotFound, 190240)
		}

		batch = begun(t, h.post("/coupon-pools/auto/codes", `{"generate":3000}`), 3000)
		require.Equal(t, http.StatusOK, h.post("/entities/coupons/pool/auto/archive", "").status)
		refused(t, h.post("/coupon-pools/auto/codes", `{"generate":3000}`), http.StatusUnprocessableEntity, 190054)
		h.filled(batch, "done 3000 3000 3000")
		status = "/coupon-pools/codes/" + batch + "/status"
		errors = h.get(status + "/errors").json(t)["data"].([]any)
		require.Equal(t, "[map[count:3000 error:map[code:190054 message:auto is archived type:RuleException]]]", fmt.Sprint(errors))
		require.Equal(t, http.StatusOK, h.post("/admin/modules/coupons", `{"enabled":false}`).status)
		refused(t, h.get(status), http.StatusNotFound, 160600)
	})
}

// TestManyCodes: this body may be larger than others.
func TestManyCodes(t *testing.T) {
	h := open(t)
	require.Equal(t, http.StatusCreated, h.post("/entities/coupons/pool", uploadPool).status)
	list := make([]string, 20_000)
	for i := range list {
		list[i] = fmt.Sprintf("%s-%06d", strings.Repeat("x", 60), i)
	}

	body, err := json.Marshal(map[string]any{"codes": list})
	require.NoError(t, err)
	require.Greater(t, len(body), 1<<20)
	a := h.post("/coupon-pools/spring/codes", string(body), "Idempotency-Key", "k")
	batch := begun(t, a, 20_000)
	again := h.post("/coupon-pools/spring/codes", string(body), "Idempotency-Key", "k")
	require.Equal(t, a.body, again.body)
	h.filled(batch, "done 20000 20000 0")
	require.Equal(t, "spring 20000 20000 0 0 of late 0", stockShown(t, h.get("/coupon-pools/spring")))

	require.Equal(t, http.StatusRequestEntityTooLarge, h.post("/entities/stores/store", string(body)).status)
	a = h.post("/coupon-pools/spring/codes", `{"codes":["`+strings.Repeat("x", 16<<20)+`"]}`)
	require.Equal(t, http.StatusRequestEntityTooLarge, a.status)
	require.Contains(t, a.fault(t).Message, fmt.Sprint(16<<20))
}
