package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/servertest"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// stockShown words the counts of a pool.
func stockShown(t *testing.T, a answer) string {
	t.Helper()
	require.Less(t, a.status, 300, a.body)
	p := data(t, a)
	return fmt.Sprint(p["id"], " ", p["total"], " ", p["available"], " ", p["claimed"], " ", p["redeemed"], " of late ", p["given_30_days"])
}

// worthShown is what a coupon is.
func worthShown(t *testing.T, a answer) string {
	t.Helper()
	c := data(t, a)
	return fmt.Sprint(c["status"], " ", c["type"], " ", c["value"])
}

func TestCouponPools(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := wallet(t, url)
		a := h.makes("/coupon-pools", `{"id":"autumn","name":"Autumn","source":"uploaded","coupon":{"type":"amount","value":2.5,"name":{"en":"Two and a half"}},"cf_owner":"marketing"}`)
		require.Equal(t, "autumn 0 0 0 0 of late 0", stockShown(t, a))
		require.Equal(t, "marketing map[name:map[en:Two and a half] type:amount value:2.5]", fmt.Sprint(data(t, a)["cf_owner"], " ", data(t, a)["coupon"]))
		require.Equal(t, "coupons pool", fmt.Sprint(data(t, a)["module"], " ", data(t, a)["entity"]))
		require.NotEmpty(t, data(t, h.form("/coupon-pools", "name=Chosen&source=generated&pattern=C-######&coupon[type]=percentage&coupon[value]=5&coupon[valid_days]=3"))["id"])

		require.Equal(t, "spring 3 2 1 0 of late 1", stockShown(t, h.get("/coupon-pools/spring")))
		h.happens("member-1001", "coupon_redeem", `{"code":"S-1"}`)
		h.happens("member-1002", "coupon_create", `{"code":"LATE","value":1,"pool":"spring","expdate":"2020-01-01"}`)
		h.happens("member-1002", "coupon_create", `{"code":"CARD","value":9,"amount":9,"pool":"spring"}`)
		h.happens("member-1002", "coupon_redeem", `{"code":"CARD","amount":1}`)
		require.Equal(t, "spring 5 2 0 2 of late 1", stockShown(t, h.get("/coupon-pools/spring")), "what is expired only counts in all, and what came with its customer was never there")
		listed := h.get("/coupon-pools?limit=2")
		require.Equal(t, []string{"spring", "auto"}, column(t, listed, "id"))
		require.Equal(t, []string{"5", "1"}, column(t, listed, "total"))
		require.Len(t, h.walkBoth("/coupon-pools?limit=3", "id"), 4)

		a = h.does("/coupon-pools/spring", `{"coupon":{"type":"percentage","value":5},"cf_owner":"till"}`)
		require.Equal(t, "spring 5 2 0 2 of late 1 till", stockShown(t, a)+fmt.Sprint(" ", data(t, a)["cf_owner"]))
		require.Equal(t, "created percentage 5", worthShown(t, h.get("/coupons/S-3")), "nobody holds it: what it is worth when it is redeemed")
		require.Equal(t, "redeemed amount 5", worthShown(t, h.get("/coupons/S-1")), "it stays as it was given")
		a = h.post("/coupon-pools/spring", `{"cf_owner":null}`)
		require.NotContains(t, data(t, a), "cf_owner")
		require.Equal(t, "Spring", data(t, a)["name"], "what is not sent stays")
		require.Equal(t, `{"type":"percentage","value":5}`, oneLine(t, data(t, h.get("/entities/coupons/pool/spring"))["coupon"]), "it is the same entity")

		for body, fields := range map[string]string{
			`{}`: "name source coupon", `{"name":"X","source":"uploaded"}`: "coupon", `{"name":"X","source":"bought","coupon":{"type":"free_shipping"}}`: "source",
			`{"name":"X","source":"generated","coupon":{"type":"free_shipping"}}`:                        "pattern",
			`{"name":"X","source":"generated","pattern":"##-##","coupon":{"type":"free_shipping"}}`:      "pattern",
			`{"name":"X","source":"uploaded","coupon":{"type":"percentage","value":101}}`:                "coupon.value",
			`{"name":"X","source":"uploaded","coupon":{"type":"amount"}}`:                                "coupon.value",
			`{"name":"X","source":"uploaded","colour":"red","coupon":{"type":"free_shipping"}}`:          "colour",
			`{"name":"X","source":"uploaded","coupon":{"type":"free_shipping","name":{"english":"No"}}}`: "coupon.name.english",
		} {
			a := h.post("/coupon-pools", body)
			require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", body, a.body)
			require.Equal(t, strings.Fields(fields), a.fault(t).fields(), body)
		}

		refused(t, h.post("/coupon-pools", uploadPool), http.StatusConflict, 190034)
		refused(t, h.get("/coupon-pools/none"), http.StatusNotFound, 190025)
		refused(t, h.post("/coupon-pools/none", `{"name":"X"}`), http.StatusNotFound, 190025)
		require.Equal(t, []string{"source"}, h.post("/coupon-pools/autumn", `{"source":null}`).fault(t).fields())
		h.does("/entities/coupons/pool/autumn/archive", "")
		require.NotEmpty(t, data(t, h.get("/coupon-pools/autumn"))["archived_at"])
		refused(t, h.post("/coupon-pools/autumn", `{"name":"X"}`), http.StatusUnprocessableEntity, 190054)
		require.NotContains(t, column(t, h.get("/coupon-pools"), "id"), "autumn")
		require.Contains(t, column(t, h.get("/coupon-pools?archived=true"), "id"), "autumn")
	})
}

// TestCreatePoolOnce: a repeated creation is answered alike.
func TestCreatePoolOnce(t *testing.T) {
	h := open(t)
	first := h.makes("/coupon-pools", uploadPool, "Idempotency-Key", "k")
	again := h.post("/coupon-pools", uploadPool, "Idempotency-Key", "k")
	require.Equal(t, first.body, again.body)
	require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	require.Equal(t, http.StatusConflict, h.post("/coupon-pools", generatePool, "Idempotency-Key", "k").status)
	update := h.post("/coupon-pools/spring", `{"name":"Easter"}`, "Idempotency-Key", "u")
	require.Equal(t, update.body, h.post("/coupon-pools/spring", `{"name":"Easter"}`, "Idempotency-Key", "u").body)
}

// filled has the job work on a fill until it is done; a run that is long goes on behind
// its answer.
func (h *house) filled(batch, want string) {
	h.t.Helper()
	require.Eventually(h.t, func() bool {
		h.post("/admin/jobs/bulk/run", "")
		return succeeded(h.t, h.get("/coupon-pools/codes/"+batch+"/status"))["status"] == "done"
	}, 5*time.Minute, 50*time.Millisecond)
	require.Equal(h.t, want, standing(succeeded(h.t, h.get("/coupon-pools/codes/"+batch+"/status"))))
}

// TestFiftyThousandCodes: a call may make that many codes, all of them different, and
// says how far it is. `make test` makes a tenth, the test plan (F2) all.
func TestFiftyThousandCodes(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		n := 5_000
		if os.Getenv("LOYALTY_TORTURE") != "" {
			n = 50_000 // the most
		}

		h.makes("/coupon-pools", uploadPool)
		h.makes("/coupon-pools", `{"id":"mixed","name":"Mixed","source":"generated","pattern":"M@#*-****","coupon":{"type":"free_shipping"}}`)
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("UPLOADED-%06d", i)
		}

		body, err := json.Marshal(map[string]any{"codes": list})
		require.NoError(t, err)
		for path, body := range map[string]string{"spring": string(body), "mixed": fmt.Sprintf(`{"generate":%d}`, n)} {
			batch := begun(t, h.post("/coupon-pools/"+path+"/codes", body, "Idempotency-Key", path), n)
			require.Equal(t, fmt.Sprint(path, " 0 0 0 0 of late 0"), stockShown(t, h.get("/coupon-pools/"+path)))
			again := h.post("/coupon-pools/"+path+"/codes", body, "Idempotency-Key", path)
			require.Equal(t, []string{batch, "true"}, []string{batchOf(again.json(t)), again.header.Get("Idempotency-Replayed")})
			h.filled(batch, fmt.Sprint("done ", n, " ", n, " 0"))
			require.Equal(t, fmt.Sprintf("%s %d %d 0 0 of late 0", path, n, n), stockShown(t, h.get("/coupon-pools/"+path)))
		}

		var different int
		require.NoError(t, storetest.Raw(t, url).QueryRow(`SELECT COUNT(DISTINCT code) FROM coupons`).Scan(&different))
		require.Equal(t, 2*n, different)
		for _, code := range column(t, h.get("/coupons?pool=mixed&limit=1000"), "code") {
			require.Regexp(t, `^M[A-HJ-NP-Z]\d[2-9A-HJ-NP-Z]-[2-9A-HJ-NP-Z]{4}$`, code)
		}
	})
}

// TestPoolSchemas: the pool of the Coupon document is the entity of the Entities
// document, property by property.
func TestPoolSchemas(t *testing.T) {
	own, entities := servertest.Documents()["coupon"], servertest.Documents()["entities"]
	same := func(name, as string) {
		a, b := own.Components.Schemas[name].Value, entities.Components.Schemas[as].Value
		require.Len(t, a.Properties, len(b.Properties))
		for p, ref := range a.Properties {
			x, y := *ref.Value, *b.Properties[p].Value
			if y.Type == nil {
				y = *y.AllOf[0].Value // a reference with words of its own
			}
			require.Equal(t, y.Type, x.Type, p)
			require.Equal(t, y.Enum, x.Enum, p)
			require.Equal(t, []any{y.MinLength, y.MaxLength, y.Min, y.Max, y.Format}, []any{x.MinLength, x.MaxLength, x.Min, x.Max, x.Format}, p)
		}
	}

	same("CouponPoolFields", "CouponPool")
	same("PoolCoupon", "CouponTemplate")
}

// oneLine writes a value as JSON.
func oneLine(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, json.NewEncoder(&b).Encode(v))
	return strings.TrimSpace(b.String())
}
