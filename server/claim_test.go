package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/rebuild"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestClaimInOneStep: points, stock, limit, segment, coupon, event and reaction,
// all of them or none, and the answer of the specification.
//
// spec: claim.*, endpoint.claim, state.coupon.claim, service.language.localized
func TestClaimInOneStep(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.entity("segments/segment", `{"id":"fans","name":"Fans","condition":"\"fan\" in customer.labels"}`)
		h.entity("coupons/pool", `{"id":"spring","name":"Spring","source":"uploaded","coupon":{"type":"amount","value":5.5,"name":{"en":"Five and a half","hu":"Öt és fél"},"valid_days":30}}`)
		require.Equal(t, http.StatusCreated, h.post("/coupon-pools/spring/codes", `{"codes":["SPRING-1","SPRING-2"]}`).status)
		h.entity("rewards/reward",
			`{"id":"pooled","title":{"en":"Pooled"},"type":"coupon","points":100,"stock":2,"max_claims":1,"segments":["fans"],"pool":"spring"}`,
			`{"id":"made","title":{"en":"Made"},"type":"coupon","points":40,"stock":1,"coupon":{"type":"percentage","value":15,"name":{"en":"Fifteen percent","hu":"Tizenöt százalék"}}}`)
		h.entity("automation/campaign", `{"id":"thanks","name":"Thanks","trigger":"reward_claim","condition":"event.data.reward == \"pooled\"","effects":[{"type":"points","points":7},{"type":"label","label":"claimer"}],"status":"active"}`)
		h.enrol("member-1001")
		h.happens("member-1001", "point_add", `{"points":150}`)
		const pooled, made = member + "/activities/rewards/pooled/claim", member + "/activities/rewards/made/claim"
		refused(t, h.form(pooled, ""), http.StatusUnprocessableEntity, 120213)
		require.Equal(t, "150", h.spendable())
		h.happens("member-1001", "profile", `{"labels":["fan"]}`)

		a := h.signed(h.key, h.request(http.MethodPost, pooled, "", "Content-Type", formType, "Accept-language", "hu"))
		require.Equal(t, http.StatusOK, a.status, a.body)
		claim := a.json(t)
		at := claim["last_claimed_at"].(string)
		require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`, at)
		coupon := claim["coupon"].(map[string]any)
		require.Greater(t, coupon["expires_at"], at)
		require.NotEmpty(t, coupon["created_at"])
		delete(coupon, "expires_at")
		delete(coupon, "created_at")
		require.Equal(t, map[string]any{
			"id": claim["id"], "spent": json.Number("100"), "last_claimed_at": at,
			"coupon": map[string]any{
				"code": "SPRING-1", "status": "claimed", "customer": map[string]any{"id": "member-1001"}, "name": "Öt és fél",
				"claimed_at": at, "type": "amount", "value": json.Number("5.5"), "currency": "EUR",
			},
		}, claim)

		who := data(t, h.get(member))
		require.Equal(t, "157 100 57 [fan claimer]", fmt.Sprint(who["score"], " ", who["spent"], " ", who["spendable"], " ", who["labels"]))
		h.stands("pooled", "1 <nil>")

		refused(t, h.form(pooled, ""), http.StatusUnprocessableEntity, 120211)
		made1 := h.form(made, "").json(t)["coupon"].(map[string]any)
		require.Equal(t, "Fifteen percent percentage 15 <nil>", fmt.Sprint(made1["name"], " ", made1["type"], " ", made1["value"], " ", made1["expires_at"]))
		require.Equal(t, "17", h.spendable())
		refused(t, h.form(made, ""), http.StatusUnprocessableEntity, 120212)
		h.entity("rewards/reward", `{"id":"more","title":{"en":"More"},"type":"coupon","points":18,"stock":5,"pool":"spring"}`)
		refused(t, h.form(member+"/activities/rewards/more/claim", ""), http.StatusUnprocessableEntity, 120241)
		h.stands("more", "5 <nil>")
		code := data(t, h.get("/coupons/SPRING-2"))
		require.Equal(t, "created <nil>", fmt.Sprint(code["status"], " ", code["customer"]), "a claim that is refused takes no code")
		require.Equal(t, "17", h.spendable())
		h.proven()
	})
}

// stands requires what the catalogue says of a reward's stock and end.
func (h *house) stands(reward, want string) {
	h.t.Helper()
	r := data(h.t, h.get("/rewards/"+reward))
	require.Equal(h.t, want, fmt.Sprint(r["in_stock"], " ", r["ends_at"]))
}

// proven requires that the ledger holds and that the journal gives what is stored.
func (h *house) proven() {
	h.t.Helper()
	ledgerHolds(h.t, h.store)
	require.NoError(h.t, h.store.VerifyRebuild(h.t.Context(), func(d rebuild.Difference) {
		require.Fail(h.t, "the journal does not give what is stored", "%+v", d)
	}, func(store.RebuildProgress) {}))
}

// TestTheLastOne: of 64 signed claims at once exactly one gets the last piece, the
// last code, and what the last points of a customer pay.
func TestTheLastOne(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.entity("coupons/pool", `{"id":"few","name":"Few","source":"uploaded","coupon":{"type":"amount","value":5}}`)
		require.Equal(t, http.StatusCreated, h.post("/coupon-pools/few/codes", `{"codes":["THE-LAST"]}`).status)
		h.entity("rewards/reward",
			`{"id":"piece","title":{"en":"A piece"},"type":"physical","points":10,"stock":1}`,
			`{"id":"code","title":{"en":"A code"},"type":"coupon","points":10,"pool":"few"}`,
			`{"id":"points","title":{"en":"For points"},"type":"physical","points":80}`)

		const claimers = 64
		h.crowd("member-", claimers, 100)
		one := func(reward string, code int, customer func(int) string) {
			answers := make([]answer, claimers)
			var begin, done sync.WaitGroup
			begin.Add(1)
			for i := range claimers {
				done.Go(func() {
					begin.Wait()
					answers[i] = h.form("/customers/"+customer(i)+"/activities/rewards/"+reward+"/claim", "")
				})
			}

			begin.Done()
			done.Wait()
			won := 0
			for _, a := range answers {
				if a.status == http.StatusOK {
					won++
					continue
				}
				refused(t, a, http.StatusUnprocessableEntity, code)
			}

			require.Equal(t, 1, won, reward)
		}

		each := func(i int) string { return fmt.Sprint("member-", i) }
		one("piece", 120212, each)
		one("code", 120212, each)
		one("points", 120241, func(int) string { return "member-7" })
		spent := 0
		for i := range claimers {
			n, err := data(t, h.get("/customers/"+each(i)))["spent"].(json.Number).Int64()
			require.NoError(t, err)
			spent += int(n)
		}

		require.Equal(t, 100, spent, "nobody else paid")
		require.Equal(t, "0", fmt.Sprint(data(t, h.get("/rewards/piece"))["in_stock"]))
		h.proven()
	})
}
