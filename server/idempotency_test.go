package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestReplayShowsWhatIsAllowedNow: whether the customer may be shown is decided when an
// answer goes out, a repeated one too; else it is the first one to the byte.
func TestReplayShowsWhatIsAllowedNow(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		suppress := func(on bool) {
			done(h, "/admin/modules/events_api", fmt.Sprintf(`{"enabled":true,"config":{"suppress_pii":%t}}`, on))
		}
		enrol := func(key string) answer {
			return h.post("/events", `{"customer":"`+key+`","action":"opt_in","data":{"email":"`+key+`@shop.test"}}`, "Idempotency-Key", key)
		}
		again := func(want answer) {
			t.Helper()
			a := enrol("ada")
			require.Equal(t, "true", a.header.Get("Idempotency-Replayed"))
			require.Equal(t, want.body, a.body)
		}

		first := enrol("ada")
		require.Contains(t, first.body, `"email":"ada@shop.test"`)
		done(h, "/events", `{"customer":"ada","action":"point_add","data":{"points":5}}`)
		again(first)
		suppress(true)
		hidden := enrol("ada")
		require.Equal(t, "true", hidden.header.Get("Idempotency-Replayed"))
		require.NotContains(t, hidden.body, `"ada`, "an id may have these letters in it")
		require.Equal(t, first.json(t)["events"], hidden.json(t)["events"])
		require.NotContains(t, enrol("ben").body, "ben")
		suppress(false)
		again(first)
		require.Contains(t, enrol("ben").body, `"email":"ben@shop.test"`, "it is the answer that was kept, as it may be shown now")
		require.NotContains(t, texts(t, contentsOf(t, url).db, "SELECT key FROM answers"), "ada")
	})
}

// TestRepetitionsNameTheirLanguage: a repeated answer has the texts of the first one, and names
// their language whatever the repetition asks for.
func TestRepetitionsNameTheirLanguage(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		h.everyModule()
		h.enrol("ada")
		done(h, "/coupon-pools", `{"id":"csak","name":"Csak","source":"generated","pattern":"H-########","coupon":{"type":"amount","value":5,"name":{"hu":"Csak magyarul"}}}`)
		done(h, "/entities/rewards/reward", `{"id":"csak","title":{"hu":"Csak magyarul"},"type":"coupon","points":0,"pool":"csak"}`)
		tooMuch := `{"customer":"ada","action":"point_spend","data":{"points":100000}}`
		for _, c := range []struct{ key, target, body, first, again string }{
			{"text", "/customers/ada/activities/rewards/csak/claim", "", "en", "en"},
			{"rule", "/events", tooMuch, "hu", "en"},
			{"bulk", "/events/bulk", bulkOf([]string{tooMuch}), "hu", "en"},
			{"nobody", "/customers/nobody/activities/rewards/csak/claim", "", "hu", "en"},
			{"merge", "/customers/ada/merge", `{"target":"ada"}`, "hu", "en"},
			{"change", "/entities/rewards/reward/nobody", `{"points":1}`, "hu", "en"},
			{"administration", "/admin/webhooks/nobody/pause", `{}`, "hu", "en"},
		} {
			var bodies []string
			for i, language := range []string{c.first, c.again} {
				a := h.post(c.target, c.body, "Idempotency-Key", c.key, "Accept-Language", language)
				require.Equal(t, i == 1, a.header.Get("Idempotency-Replayed") == "true", c.key)
				require.Equal(t, "hu", a.header.Get("Content-Language"), "%s %d: %s", c.key, i, a.body)
				bodies = append(bodies, a.body)
			}
			require.Equal(t, bodies[0][:40], bodies[1][:40], c.key)
		}
	})
}

// TestBulkUnderAKey: each event decides at its place.
func TestBulkUnderAKey(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		h.enrol("c-0")
		add := func(points int) string {
			return fmt.Sprintf(`{"customer":"c-0","action":"point_add","data":{"points":%d}}`, points)
		}
		spend := func(points int) string {
			return fmt.Sprintf(`{"customer":"c-0","action":"point_spend","data":{"points":%d}}`, points)
		}
		send := func(key string, events ...string) answer {
			return h.post("/events/bulk", bulkOf(events), "Idempotency-Key", key)
		}
		results := func(a answer) []any { return a.json(t)["results"].([]any) }
		score := func(want int64) { t.Helper(); require.Equal(t, want, total(h)) }

		first := send("K", add(1), add(2))
		score(3)
		more := send("K", add(1), add(2), add(4))
		require.Equal(t, results(first), results(more)[:2], "what was done is answered as it was")
		require.Empty(t, more.header.Get("Idempotency-Replayed"), "one of them is new")
		score(7)
		less := send("K", add(1))
		require.Equal(t, "true", less.header.Get("Idempotency-Replayed"))
		require.Equal(t, []string{"ok", "190031"}, fates(t, send("K", add(1), add(200)).json(t)), "another event stands there")
		require.Equal(t, http.StatusConflict, send("K", add(100), add(200)).status, "all of them are others")
		score(7)

		require.Equal(t, []string{"ok", "0 events[1].data.points"}, fates(t, send("L", add(8), spend(1000)).json(t)))
		require.Equal(t, []string{"ok", "ok"}, fates(t, send("L", add(8), spend(5)).json(t)), "what was refused may be sent corrected")
		corrected := send("L", add(8), spend(5))
		require.Equal(t, "true", corrected.header.Get("Idempotency-Replayed"))
		require.Equal(t, []string{"ok", "190031"}, fates(t, send("L", add(8), spend(6)).json(t)), "and is done then")
		score(15)

		for _, name := range []string{"K#0", "K#1", "K"} { // names of a caller's own
			a := h.post("/events", add(16), "Idempotency-Key", name)
			require.Equal(t, name != "K", a.status == http.StatusOK, "%s: %s", name, a.body)
		}

		score(47)
		require.Equal(t, "true", send("K", add(1), add(2), add(4)).header.Get("Idempotency-Replayed"))
		require.Equal(t, http.StatusConflict, send("K#0", add(32)).status, "a key of one event is none of a bulk")
		for target, body := range map[string]string{
			"/events": add(16), "/customers/c-0/merge": `{"target":"c-1"}`, "/admin/settings": `{}`, "/entities/rewards/reward": `{"id":"r","title":{"en":"R"},"type":"points","points":1,"award":1}`,
		} {
			a := h.post(target, body, "Idempotency-Key", "K")
			require.Equal(t, http.StatusConflict, a.status, "%s: %s", target, a.body)
			require.Equal(t, 190031, a.fault(t).Code, target)
		}

		score(47)
		ledgerHolds(t, h.store)
	})
}

// TestRefusalsAreKept: for every operation that takes an Idempotency-Key, a refusal is
// the answer to every repetition, and the key is spent.
func TestRefusalsAreKept(t *testing.T) {
	instead := map[string][2]string{ // where what the document shows would not be refused
		"createCouponPool":   {"/coupon-pools", `{"id":"taken","name":"Taken","source":"uploaded","coupon":{"type":"amount","value":5,"currency":"EUR","name":{"en":"Five off"}}}`},
		"changeEntities":     {"/entities", `{"entities":[{"method":"archive","type":"rewards/reward","id":"nobody"}]}`},
		"applyConfiguration": {"/admin/configuration", `{"mode":"apply","configuration":{"modules":{"checkout_accept":{"enabled":true},"pending_events":{"enabled":true,"config":{"actions":["visit"],"days":3}}}}}`},
		"configureModule":    {"/admin/modules/nobody", `{"enabled":true}`},
		"createUser":         {"/admin/users", `{"login":"taken","name":"Taken","role":"viewer"}`},
		"retryDelivery":      {"/admin/webhooks/nobody/deliveries/1/retry", `{}`},
		"replayWebhook":      {"/admin/webhooks/nobody/replay", `{"from":"2026-01-01T00:00:00Z","to":"2026-01-02T00:00:00Z"}`},
	}

	cannot := map[string]string{
		"createImport": "it refuses with 400 and 403 only", "createKey": "it refuses with 400 and 403 only", "updateSettings": "it refuses with 400 only", "createWebhook": "it refuses with 400 and 403, and once there are a hundred",
		"submitEvents": "each event is refused on its own: TestBulkUnderAKey", "runJob": "it keeps no answer",
	}

	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.everyModule()
		done(h, "/coupon-pools", `{"id":"taken","name":"Taken","source":"uploaded","coupon":{"type":"amount","value":5,"currency":"EUR","name":{"en":"Five off"}}}`)
		done(h, "/admin/users", `{"login":"taken","name":"Taken","role":"viewer"}`)
		tried := 0
		for _, o := range everyOperation(t) {
			keeps := false
			for _, p := range append(o.item.Parameters, o.Parameters...) {
				keeps = keeps || p.Value.Name == "Idempotency-Key"
			}

			if !keeps || cannot[o.OperationID] != "" {
				continue
			}

			tried++
			target, body := inPath.ReplaceAllString(o.path, "nobody"), "{}"
			if names := o.exampleNames(); len(names) > 0 {
				body = marshal(t, o.body().Examples[names[0]].Value.Value)
			}
			if other, ok := instead[o.OperationID]; ok {
				target, body = other[0], other[1]
			}

			first := h.post(target, body, "Idempotency-Key", o.OperationID)
			if !assert.Contains(t, []int{404, 409, 422}, first.status, "%s: %s", o.OperationID, first.body) {
				continue
			}

			require.Empty(t, first.header.Get("Idempotency-Replayed"))
			again := h.post(target, body, "Idempotency-Key", o.OperationID)
			require.Equal(t, "true", again.header.Get("Idempotency-Replayed"), "%s: %s", o.OperationID, first.body)
			require.Equal(t, first.body, again.body)
			other := h.post(target, strings.TrimSuffix(body, "}")+" }", "Idempotency-Key", o.OperationID)
			require.Equal(t, http.StatusConflict, other.status, "%s: %s", o.OperationID, other.body)
			require.Equal(t, 190031, other.fault(t).Code)
		}

		require.Greater(t, tried, 25)
		for range 2 {
			a := h.post("/admin/jobs/nobody/run", "{}", "Idempotency-Key", "job")
			require.Equal(t, http.StatusNotFound, a.status)
			require.Empty(t, a.header.Get("Idempotency-Replayed"))
		}

		plan := `{"mode":"plan","configuration":{"modules":{"checkout_accept":{"enabled":true},"pending_events":{"enabled":true,"config":{"actions":["visit"],"days":3}}}}}`
		for range 2 {
			a := h.post("/admin/configuration", plan, "Idempotency-Key", "plan")
			require.Equal(t, http.StatusUnprocessableEntity, a.status, a.body)
			require.Empty(t, a.header.Get("Idempotency-Replayed"))
		}
	})
}

// TestRefusalOfANodeThatIsBehind: a node that had not followed the configuration yet
// refuses what is allowed by now. That is not remembered; what it refuses once it has
// followed is.
func TestRefusalOfANodeThatIsBehind(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		ahead := openOn(t, url)
		ahead.enrol("ada")
		done(ahead, "/events", `{"customer":"ada","action":"point_add","data":{"points":100}}`)
		behind := openOn(t, url)
		done(ahead, "/entities/rewards/reward", `{"id":"tea","title":{"en":"Tea"},"type":"coupon","points":20,"coupon":{"type":"amount","value":3,"valid_days":30}}`)
		done(ahead, "/admin/modules/contests", `{"enabled":true}`)
		done(ahead, "/entities/contests/contest", `{"id":"raffle","title":{"en":"Raffle"},"points":5,"max_entries":10}`)
		for target, body := range map[string]string{
			"/customers/ada/activities/rewards/tea/claim": `{}`,
			"/events": `{"customer":"ada","action":"contest_enter","data":{"contest_id":"raffle"}}`,
		} {
			early := behind.post(target, body, "Idempotency-Key", target)
			require.Contains(t, []int{404, 422}, early.status, "%s: %s", target, early.body)
			late := behind.post(target, body, "Idempotency-Key", target)
			require.Equal(t, early.status, late.status)
			require.Empty(t, late.header.Get("Idempotency-Replayed"), "nothing was kept")
		}

		require.NoError(t, behind.directory.Refresh(t.Context()))
		behind.does("/customers/ada/activities/rewards/tea/claim", `{}`, "Idempotency-Key", "/customers/ada/activities/rewards/tea/claim")
		none := `{"customer":"ada","action":"point_spend","data":{"points":99999}}`
		for _, replayed := range []string{"", "true"} {
			a := behind.post("/events", none, "Idempotency-Key", "none")
			require.Equal(t, http.StatusUnprocessableEntity, a.status)
			require.Equal(t, replayed, a.header.Get("Idempotency-Replayed"))
		}
	})
}

// TestAnswersAreKept: every operation that takes an Idempotency-Key gives its success again, but those whose documents
// say that they keep none.
func TestAnswersAreKept(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWitness(openOn(t, url, patient), 1)
		w.inhabit()
		kept, without := 0, []string{}
		w.each(func(w *witness, o *offered) {
			keeps := false
			for _, p := range append(o.item.Parameters, o.Parameters...) {
				keeps = keeps || p.Value.Name == "Idempotency-Key"
			}

			if !keeps {
				return
			}

			target, body := w.asked(o, "")
			first := w.post(target, body, "Idempotency-Key", "kept-"+o.OperationID)
			if first.status >= http.StatusBadRequest {
				return // TestRefusalsAreKept
			}

			again := w.post(target, body, "Idempotency-Key", "kept-"+o.OperationID)
			if again.header.Get("Idempotency-Replayed") == "true" {
				kept++
				return
			}

			without = append(without, o.OperationID)
			assert.Regexp(t, `(no answer is|not) kept for an Idempotency-Key`, strings.Join(strings.Fields(o.Description), " "), o.OperationID)
		})

		require.Greater(t, kept, 15)
		require.Subset(t, []string{"applyConfiguration", "replayWebhook", "runJob"}, without)
	})
}
