package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/servertest"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// playground is a house with everything that the examples of the Entities
// document make, and a member with points.
func playground(t *testing.T, url string) *house {
	t.Helper()
	h := openOn(t, url, patient)
	h.furnish()
	return h
}

// furnish makes everything that the examples of the Entities document make, and a
// member with points.
func (h *house) furnish() {
	h.t.Helper()
	h.everyModule()
	examples := entityExamples(h.t)
	for _, kind := range entityOrder(h.t) {
		h.makes("/entities/"+kind, examples[kind])
	}
	h.enrol("member-1001")
	h.does("/events", `{"customer":"member-1001","action":"point_add","data":{"points":1000}}`)
}

const member = "/customers/member-1001"

// spendable reads what the member can spend.
func (h *house) spendable() string {
	h.t.Helper()
	return fmt.Sprint(data(h.t, h.get(member))["spendable"])
}

// succeeded requires 200 and gives the data of the answer.
func succeeded(t *testing.T, a answer) map[string]any {
	t.Helper()
	require.Equal(t, http.StatusOK, a.status, a.body)
	return data(t, a)
}

// refused requires a failure.
func refused(t *testing.T, a answer, status, code int) fault {
	t.Helper()
	require.Equal(t, status, a.status, a.body)
	f := a.fault(t)
	require.Equal(t, code, f.Code, a.body)
	return f
}

func TestClaimAndRevoke(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := playground(t, url)
		const claim = member + "/activities/rewards/coffee/claim"
		a := h.form(claim, "")
		require.Equal(t, http.StatusOK, a.status, a.body)
		claimed := a.json(t)
		require.Equal(t, "200", fmt.Sprint(claimed["spent"]))
		require.NotEmpty(t, claimed["last_claimed_at"])
		coupon := claimed["coupon"].(map[string]any)
		require.Regexp(t, `^COF-\d{4}-[A-Z]{4}$`, coupon["code"])
		require.Equal(t, "claimed", coupon["status"])
		require.Equal(t, map[string]any{"id": "member-1001"}, coupon["customer"])
		require.Equal(t, "Free coffee", coupon["name"])
		require.Equal(t, "percentage", coupon["type"])
		require.Equal(t, "100", fmt.Sprint(coupon["value"]))
		require.Greater(t, coupon["expires_at"], coupon["claimed_at"])
		require.Equal(t, "800", h.spendable())

		inHungarian := h.post(claim, "", "Accept-language", "hu")
		require.Equal(t, "Ingyen kávé", inHungarian.json(t)["coupon"].(map[string]any)["name"])
		refused(t, h.post(claim, ""), http.StatusUnprocessableEntity, 120211)
		refused(t, h.post(member+"/activities/rewards/none/claim", ""), http.StatusNotFound, 160320)
		refused(t, h.post("/customers/nobody/activities/rewards/coffee/claim", ""), http.StatusNotFound, 160212)

		const revoke = member + "/activities/rewards/coffee/revoke"
		event := claimed["id"].(string)
		require.Equal(t, []string{"event"}, refused(t, h.post(revoke, `{}`), http.StatusBadRequest, 0).fields())
		require.Equal(t, []string{"event"}, refused(t, h.post(revoke, `{"event":"x"}`), http.StatusNotFound, 190100).fields())
		refused(t, h.post(member+"/activities/rewards/mug/revoke", `{"event":"`+event+`"}`), http.StatusNotFound, 190100)
		revoked := succeeded(t, h.post(revoke, `{"event":"`+event+`"}`))
		require.Equal(t, event, revoked["event"])
		require.Equal(t, "coffee", revoked["reward"])
		require.Equal(t, "200", fmt.Sprint(revoked["points"]))
		require.Equal(t, "800", fmt.Sprint(revoked["spendable"]))
		refused(t, h.post(revoke, `{"event":"`+event+`"}`), http.StatusUnprocessableEntity, 190040)
		require.Equal(t, http.StatusOK, h.post(claim, "").status, "a revoked claim does not count")
	})
}

// TestClaimIsIdempotent: the same request claims once and is answered alike.
func TestClaimIsIdempotent(t *testing.T) {
	h := playground(t, storetest.SQLite(t))
	const claim = member + "/activities/rewards/coffee/claim"
	first := h.does(claim, "", "Idempotency-Key", "k")
	again := h.post(claim, "", "Idempotency-Key", "k")
	require.Equal(t, first.body, again.body)
	require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	require.Equal(t, "800", h.spendable())
	require.Equal(t, http.StatusConflict, h.post(member+"/activities/rewards/none/claim", "", "Idempotency-Key", "k").status)
}

func TestGames(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := playground(t, url)
		entered := succeeded(t, h.post(member+"/activities/contests/bicycle/enter", `{"count":2}`))
		require.Equal(t, "map[contest:bicycle count:2 entries:2 points:40 spendable:960]", without(entered, "id"))
		entered = succeeded(t, h.form(member+"/activities/contests/bicycle/enter", ""))
		require.Equal(t, "map[contest:bicycle count:1 entries:3 points:20 spendable:940]", without(entered, "id"))
		f := refused(t, h.post(member+"/activities/contests/bicycle/enter", `{"count":8}`), http.StatusUnprocessableEntity, 190141)
		require.Equal(t, []string{"count"}, f.fields(), "the field of the body, not of the event")
		refused(t, h.post(member+"/activities/contests/none/enter", ""), http.StatusNotFound, 190025)

		spin := succeeded(t, h.post(member+"/prize-wheels/daily", ""))
		require.Contains(t, []any{"Five points", "A coffee", "Next time"}, spin["result"])
		require.Equal(t, spin["type"] == "reward", spin["coupon"] != nil)
		refused(t, h.post(member+"/prize-wheels/daily", ""), http.StatusUnprocessableEntity, 190143)
		refused(t, h.post(member+"/prize-wheels/none", ""), http.StatusNotFound, 190025)

		wrong := refused(t, h.post(member+"/activities/quizzes/origin/earn", `{"answer":"c"}`), http.StatusBadRequest, 190010)
		require.Equal(t, []string{"answer"}, wrong.fields())
		right := succeeded(t, h.post(member+"/activities/quizzes/origin/earn", `{"answer":"a"}`))
		require.Equal(t, "true a 10", fmt.Sprint(right["correct"], " ", right["correct_answer"], " ", right["points"]))
		refused(t, h.post(member+"/activities/quizzes/origin/earn", `{"answer":"a"}`), http.StatusUnprocessableEntity, 190144)
	})
}

// TestWheelGivesAReward: an option that is a reward comes with its coupon.
func TestWheelGivesAReward(t *testing.T) {
	h := playground(t, storetest.SQLite(t))
	h.makes("/entities/prize-wheels/wheel", `{"id":"sure","name":{"en":"Sure"},"points":10,"options":[{"type":"reward","label":{"en":"A coffee","hu":"Egy kávé"},"weight":1,"reward":"coffee"}]}`)
	spin := succeeded(t, h.post(member+"/prize-wheels/sure", "", "Accept-language", "hu"))
	require.Equal(t, "Egy kávé", spin["result"])
	require.Equal(t, map[string]any{"id": "coffee", "title": "Ingyen kávé"}, spin["reward"])
	require.Equal(t, "claimed", spin["coupon"].(map[string]any)["status"])
	require.Equal(t, "10 990", fmt.Sprint(spin["spent"], " ", spin["spendable"]))
}

func TestProfiling(t *testing.T) {
	h := playground(t, storetest.SQLite(t))
	const questions = member + "/activities/profiling/taste/questions/"
	first := succeeded(t, h.post(questions+"drink", `{"answer":"espresso"}`))
	require.Equal(t, "map[completed:false flow:taste next:born points:5 question:drink spendable:1005]", without(first, "id"))
	require.Equal(t, []string{"answer"}, refused(t, h.post(questions+"born", `{"answer":"2023-02-30"}`), http.StatusBadRequest, 190010).fields())
	refused(t, h.post(questions+"none", `{"answer":"x"}`), http.StatusNotFound, 190151)
	last := succeeded(t, h.form(questions+"born", "answer=1990-05-17"))
	require.Equal(t, "map[completed:true flow:taste points:20 question:born spendable:1025]", without(last, "id"))
	profile := data(t, h.get(member))
	require.Equal(t, "espresso", profile["cf_favourite"])
	require.Equal(t, "1990-05-17", profile["birth_date"])
}

func TestOffersAndSearches(t *testing.T) {
	h := playground(t, storetest.SQLite(t))
	claimed := succeeded(t, h.post(member+"/activities/offers/big-cart/claim", ""))
	require.Equal(t, "big-cart", claimed["offer"])
	again := succeeded(t, h.post(member+"/activities/offers/big-cart/claim", ""))
	require.Equal(t, claimed["claimed_at"], again["claimed_at"])
	refused(t, h.post(member+"/activities/offers/none/claim", ""), http.StatusNotFound, 190025)

	search := succeeded(t, h.form(member+"/activities/visual-search", "bounds[0][label]=dress&bounds[1][label]=shoe"))
	require.Equal(t, "2", fmt.Sprint(search["bounds"]))
	require.Equal(t, "0", fmt.Sprint(succeeded(t, h.post(member+"/activities/visual-search", `{"bounds":[]}`))["bounds"]))
	require.Equal(t, []string{"bounds[0].colour"}, refused(t, h.post(member+"/activities/visual-search", `{"bounds":[{"colour":"red"}]}`), http.StatusBadRequest, 190011).fields())
}

// TestOperationsByExternalID: a path names a customer by an external id as well.
//
// spec: service.external-ids
func TestOperationsByExternalID(t *testing.T) {
	h := playground(t, storetest.SQLite(t))
	h.does("/events", `{"customer":"member-1001","action":"profile","data":{"external_ids":{"crm":"000417"}}}`)
	a := h.does("/customers/crm:000417/activities/rewards/coffee/claim", "")
	require.Equal(t, "member-1001", a.json(t)["coupon"].(map[string]any)["customer"].(map[string]any)["id"])
	refused(t, h.post("/customers/crm:000418/activities/rewards/coffee/claim", ""), http.StatusNotFound, 160212)
}

// TestSuspendedMember: who is suspended cannot spend.
func TestSuspendedMember(t *testing.T) {
	h := playground(t, storetest.SQLite(t))
	require.Equal(t, http.StatusOK, h.post("/events", `{"customer":"member-1001","action":"suspend","data":{}}`).status)
	refused(t, h.post(member+"/activities/rewards/coffee/claim", ""), http.StatusUnprocessableEntity, 110003)
	refused(t, h.post(member+"/activities/contests/bicycle/enter", ""), http.StatusUnprocessableEntity, 110003)
}

// TestModuleOffPaths: every operation that needs a module is not there without it.
func TestModuleOffPaths(t *testing.T) {
	h := open(t, patient)
	h.enrol("member-1001")
	values := strings.NewReplacer("{customer_id}", "member-1001", "{pool_id}", "p", "{code}", "c", "{reward_id}", "r", "{contest_id}", "c",
		"{wheel_id}", "w", "{offer_id}", "o", "{quiz_id}", "q", "{flow_id}", "f", "{question_id}", "q")
	tried := 0
	for _, doc := range servertest.Documents() {
		for path, item := range doc.Paths.Map() {
			for method, op := range item.Operations() {
				module, needed := op.Extensions["x-module"].(string)
				if !needed {
					continue
				}
				tried++
				require.Equal(t, http.StatusOK, h.post("/admin/modules/"+module, `{"enabled":false}`).status)
				a := h.signed(h.key, h.request(method, values.Replace(path), "{}", "Content-Type", jsonType))
				f := refused(t, a, http.StatusNotFound, 160600)
				require.Contains(t, f.Message, module)
			}
		}
	}

	require.GreaterOrEqual(t, tried, 8)
}

// without writes an object in the order of its names, without one of them.
func without(v map[string]any, name string) string {
	rest := map[string]any{}
	for n, value := range v {
		if n != name {
			rest[n] = value
		}
	}
	return fmt.Sprint(rest)
}

// TestRevokeAfterMerge: the claims of a merged account can be undone by the one
// it became part of.
func TestRevokeAfterMerge(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := playground(t, url)
		a := h.does(member+"/activities/rewards/coffee/claim", "")
		h.enrol("member-1002")
		succeeded(t, h.post(member+"/merge", `{"target":"member-1002"}`))
		revoked := succeeded(t, h.post("/customers/member-1002/activities/rewards/coffee/revoke", `{"event":"`+a.json(t)["id"].(string)+`"}`))
		require.Equal(t, "200 1000", fmt.Sprint(revoked["points"], " ", revoked["spendable"]))
	})
}
