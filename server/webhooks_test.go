package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestWebhookMessages: what happens is sent as the contract has it, signed, in order, and
// nothing of before.
func TestWebhookMessages(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("member-1")
		h.add("member-1", "5")
		h.numbered()
		r, c := newReceiver(t), h.courier()
		id := h.hook(r, `["event.point_*","event.profile"]`, `,"include":["figures","postings"],"headers":{"authorization":"Bearer x"},"label":"CRM"`)
		h.add("member-1", "20")
		h.add("member-1", "3")
		require.Equal(t, 200, h.post("/events", `{"customer":"member-1","action":"profile","data":{"first_name":"Secretia","cf_note":"x"}}`).status)
		c.run()
		got := r.all()
		require.Len(t, got, 3)
		first := got[0]
		require.Equal(t, "event.point_add", first.Type)
		require.Equal(t, "2026-11", first.Version)
		require.Equal(t, "member-1", first.Customer.ID)
		require.Equal(t, first.ID, first.header.Get("webhook-id"))
		require.Equal(t, "Bearer x", first.header.Get("Authorization"))
		require.Empty(t, first.header.Get("webhook-replay"))
		require.Equal(t, float64(20), first.Data["change"])
		require.Equal(t, float64(28), first.Figures["score"], "as they are when it is sent")
		require.Len(t, first.Postings, 1)
		require.Equal(t, float64(20), first.Postings[0]["points"])
		require.Zero(t, first.Previous)
		require.Equal(t, first.Sequence, got[1].Previous)
		require.Equal(t, got[1].Sequence, got[2].Previous)
		for _, m := range got {
			require.NotContains(t, m.body, "Secretia", "what is personal needs to be asked for")
		}

		w := data(t, h.get("/admin/webhooks/"+id))
		require.Equal(t, map[string]any{"waiting": json.Number("0"), "dead": json.Number("0"), "behind": json.Number("0")}, w["backlog"])
		require.Equal(t, []any{"Authorization"}, w["header_names"])
		require.NotContains(t, h.get("/admin/webhooks").body, "whsec_")
		require.NotContains(t, h.get("/admin/webhooks").body, "Bearer")
		require.NotContains(t, h.get("/admin/audit").body, "Bearer")

		list := h.deliveries(id, "")
		require.Len(t, list, 3)
		require.Equal(t, "sent", list[0]["state"])
		require.Equal(t, "member-1", list[0]["customer"])
		require.Len(t, h.deliveries(id, "?limit=1"), 3, "by cursor")
		require.Len(t, h.deliveries(id, "?state=sent&type=event.profile&customer=member-1"), 1)
		require.Empty(t, h.deliveries(id, "?customer=nobody"))
		require.Empty(t, h.deliveries(id, "?created_at.lt=2020-01-01"))
		one := data(t, h.get(fmt.Sprintf("/admin/webhooks/%s/deliveries/%v", id, list[0]["delivery"])))
		require.Equal(t, first.Type, "event.point_add")
		require.Equal(t, list[0]["event_id"], one["message"].(map[string]any)["id"])
		require.Len(t, one["log"], 1)
		sent := one["log"].([]any)[0].(map[string]any)["headers"].(map[string]any)
		was := got[slices.IndexFunc(got, func(m received) bool { return m.ID == list[0]["event_id"] })].header
		for _, name := range []string{"webhook-id", "webhook-timestamp"} {
			require.Equal(t, was.Get(name), sent[name])
		}

		shown, _ := sent["webhook-signature"].(string)
		require.Len(t, []rune(shown), 13)
		require.True(t, strings.HasPrefix(was.Get("webhook-signature"), strings.TrimSuffix(shown, "…")), "what was sent, shortened")
		for _, unknown := range []string{"99", "x", "0", "-1", "007", "9223372036854775808"} { // as with every other id in a path
			require.Equal(t, 404, h.get("/admin/webhooks/"+id+"/deliveries/"+unknown).status, unknown)
			require.Equal(t, 404, h.post("/admin/webhooks/"+id+"/deliveries/"+unknown+"/retry", `{}`).status, unknown)
		}

		xml := h.signed(h.key, h.request(http.MethodPost, "/admin/webhooks/"+id+"/deliveries/x/retry", `<a/>`, "Content-Type", "text/xml"))
		require.Equal(t, 415, xml.status, "the body is looked at before what the path names")
		require.Equal(t, 404, h.get("/admin/webhooks/nonsense").status)
		types := h.get("/admin/webhook-types?limit=1000").body
		require.Contains(t, types, `"event.tier_up"`)
		require.Contains(t, types, `"webhook.failing"`)
	})
}

// TestWebhookFiguresOfMerged: what waits of a customer that is merged meanwhile is sent under the name of the
// target, with its figures and its version: a receiver keeps the newest.
func TestWebhookFiguresOfMerged(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("member-1")
		h.enrol("member-2")
		h.numbered()
		r, c := newReceiver(t), h.courier()
		h.hook(r, `["event.*"]`, `,"include":["figures"]`)
		for range 5 {
			h.add("member-2", "20")
		}

		h.add("member-1", "3")
		require.Equal(t, 200, h.post("/customers/member-2/merge", `{"target":"member-1"}`).status)
		c.run()
		got := r.all()
		require.Len(t, got, 7)
		for _, m := range got {
			require.Equal(t, "member-1", m.Customer.ID)
			require.Equal(t, float64(103), m.Figures["score"], m.body)
			require.Equal(t, got[0].Figures, m.Figures)
		}
	})
}

// TestWebhookChanges: each operation on a webhook, and what refuses it.
func TestWebhookChanges(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("member-1")
		r, c := newReceiver(t), h.courier()
		id := h.hook(r, `["event.point_add","webhook.test"]`, "")
		path := "/admin/webhooks/" + id

		tested := h.post(path+"/test", `{}`)
		require.Equal(t, 201, tested.status, tested.body)
		c.run()
		require.Equal(t, "webhook.test", r.all()[0].Type)

		old := r.secret
		again := h.post(path+"/rotate", `{"overlap_seconds":3600}`, "Idempotency-Key", "rotate")
		fresh := data(t, again)["secret"].(string)
		require.NotEqual(t, old, fresh)
		require.Nil(t, data(t, h.post(path+"/rotate", `{"overlap_seconds":3600}`, "Idempotency-Key", "rotate"))["secret"])
		h.add("member-1", "1")
		c.run() // the receiver still verifies with the old one
		require.Len(t, r.all(), 1)
		r.secret = fresh
		h.add("member-1", "1")
		c.run()
		require.Len(t, r.all(), 1)
		c.pass(2 * time.Hour)
		h.add("member-1", "1")
		c.run()
		signatures := r.all()[0].header.Get("webhook-signature")
		require.Len(t, strings.Fields(signatures), 1, "the overlap is over")

		require.Equal(t, "paused", data(t, h.post(path+"/pause", `{}`))["state"])
		h.add("member-1", "7")
		c.run()
		require.Empty(t, r.all())
		require.Equal(t, 422, h.post(path+"/test", `{}`).status)
		require.Equal(t, "active", data(t, h.post(path+"/resume", `{}`))["state"])
		c.run()
		require.Len(t, r.all(), 1, "it goes on where it stopped")
		h.post(path+"/pause", `{}`)
		h.add("member-1", "8")
		h.numbered()
		h.post(path+"/resume", `{"skip":true}`)
		c.run()
		require.Empty(t, r.all())

		require.Equal(t, []any{"event.*"}, data(t, h.post(path, `{"types":["event.*"],"filter":"event.points > 50 and customer.spendable > 60","format":"cloudevents"}`))["types"])
		h.add("member-1", "40")
		h.add("member-1", "51")
		c.run()
		got := r.all()
		require.Len(t, got, 1)
		require.Contains(t, got[0].body, `"specversion":"1.0"`)
		require.Contains(t, got[0].body, `"subject":"member-1"`)
		require.Equal(t, "application/cloudevents+json; charset=utf-8", got[0].header.Get("Content-Type"))

		require.NotContains(t, data(t, h.post(path, `{"filter":" \t"}`)), "filter", "blanks are no condition")
		h.add("member-1", "1")
		c.run()
		require.Len(t, r.all(), 1)

		for body, field := range map[string]string{
			`{"types":["event.nonsense"]}`:                              "types[0]",
			`{"url":"http://10.0.0.1/"}`:                                "url",
			`{"url":"https://a:b@shop.test/"}`:                          "url",
			`{"url":"ftp://shop.test/"}`:                                "url",
			`{"filter":"transaction.total > 5"}`:                        "filter",
			`{"filter":"nonsense("}`:                                    "filter",
			`{"headers":{"webhook-id":"x"}}`:                            "headers.webhook-id",
			`{"headers":{"X-A":"a\nb"}}`:                                "headers.X-A",
			`{"headers":{"X-C":"\n","X-B":"\n","X-D":"\n","X-E":"\n"}}`: "headers.X-B",
			`{"include":["personal"]}`:                                  "confirm_personal",
			`{"concurrency":9}`:                                         "concurrency",
			`{"ordering":"none"}`:                                       "ordering",
		} {
			a := h.post(path, body)
			require.Equal(t, 400, a.status, "%s: %s", body, a.body)
			require.Equal(t, []string{field}, a.fault(t).fields(), body)
		}

		require.Equal(t, 200, h.post(path, `{"include":["personal"],"confirm_personal":true}`).status)
		require.Contains(t, h.get("/admin/audit?action=webhook.personal").body, id)
		limited := h.newKey(admin.KeyChange{APIs: &[]string{"administration"}})
		refused := h.signed(limited, h.request(http.MethodPost, path, `{"label":"x"}`, "Content-Type", jsonType))
		require.Equal(t, 403, refused.status, refused.body)
		require.Equal(t, 200, h.signed(limited, h.request(http.MethodGet, path, "")).status)
	})
}

// TestWebhookDeadLetters: what failed too often is dead and listed with its cause, the next
// ones of the customer go on, and it can be sent again.
func TestWebhookDeadLetters(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("member-1")
		h.enrol("member-2")
		r, c := newReceiver(t), h.courier()
		id := h.hook(r, `["event.point_add"]`, "")
		r.says(func(w http.ResponseWriter, m *received) bool {
			if m.Data["change"] == float64(13) {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte("thirteen is bad luck"))
				return false
			}
			return true
		})

		h.add("member-1", "13")
		h.add("member-1", "1")
		h.add("member-2", "2")
		for range 14 { // others keep the address well
			c.run()
			h.add("member-2", "2")
			c.pass(29 * time.Hour)
		}

		c.run()
		var changes []any
		for _, m := range r.all() {
			if m.Customer.ID == "member-1" {
				changes = append(changes, m.Data["change"])
			}
		}

		require.Equal(t, []any{float64(1)}, changes, "the next one goes on behind a dead one")
		for _, d := range h.deliveries(id, "?state=sent") {
			require.Equal(t, json.Number("1"), d["attempts"], "the one that was taken counts")
		}

		dead := h.deliveries(id, "?state=dead")
		require.Len(t, dead, 1)
		require.Equal(t, json.Number("12"), dead[0]["attempts"])
		require.Equal(t, json.Number("400"), dead[0]["last_status"])
		target := fmt.Sprintf("/admin/webhooks/%s/deliveries/%v", id, dead[0]["delivery"])
		log := data(t, h.get(target))["log"].([]any)
		require.Len(t, log, 12)
		require.Equal(t, "thirteen is bad luck", log[0].(map[string]any)["answer"])

		r.status(204)
		require.Equal(t, "waiting", data(t, h.post(target+"/retry", `{}`))["state"])
		require.Equal(t, 422, h.post(target+"/retry", `{}`).status)
		for _, none := range []string{"x", "007", "4711"} {
			missing := "/admin/webhooks/" + id + "/deliveries/" + none
			for _, a := range []answer{h.post(missing+"/retry", `{}`), h.unchecked(http.MethodGet, missing)} {
				require.Equal(t, 404, a.status, a.body)
				require.Contains(t, a.body, "Delivery not found: "+none)
			}
		}

		c.run()
		got := r.all()
		require.Equal(t, float64(13), got[len(got)-1].Data["change"])
		require.Equal(t, json.Number("0"), data(t, h.post("/admin/webhooks/"+id+"/deliveries/-/retry", `{}`))["deliveries"])
		require.Len(t, h.get("/admin/audit?action=webhook.retry").json(t)["data"], 1, "nothing was done the second time")
	})
}

// TestWebhookReplay: the past is counted, then sent behind what happens, with its ids.
func TestWebhookReplay(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("member-1")
		h.enrol("member-2")
		began := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
		for i := range 5 {
			h.add("member-1", fmt.Sprint(i+1))
			h.add("member-2", fmt.Sprint(i+1))
		}

		h.numbered()
		r, c := newReceiver(t), h.courier()
		id := h.hook(r, `["event.point_add","event.profile"]`, "")
		c.run()
		require.Empty(t, r.all())
		time.Sleep(5 * time.Millisecond)
		until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		ask := func(more string) answer {
			return h.post("/admin/webhooks/"+id+"/replay", `{"from":"`+began+`","to":"`+until+`"`+more+`}`)
		}
		require.Equal(t, json.Number("10"), data(t, ask(`,"dry_run":true`))["events"])
		require.Equal(t, json.Number("5"), data(t, ask(`,"customer":"member-1","dry_run":true`))["events"])
		require.Equal(t, json.Number("0"), data(t, ask(`,"types":["event.profile"],"dry_run":true`))["events"])
		for range 2 {
			a := h.post("/admin/webhooks/"+id+"/replay", `{"from_sequence":1,"dry_run":true}`, "Idempotency-Key", "count")
			require.Equal(t, http.StatusOK, a.status, a.body)
			require.Empty(t, a.header.Get("Idempotency-Replayed"), "a count is not kept")
		}

		c.run()
		require.Empty(t, r.all(), "counting sends nothing")
		require.Equal(t, json.Number("5"), data(t, ask(`,"customer":"member-1","types":["event.point_*"]`))["events"])
		require.Equal(t, 422, ask("").status, "one at a time")
		c.run()
		got := r.all()
		require.Len(t, got, 5)
		for i, m := range got {
			require.Equal(t, "1", m.header.Get("webhook-replay"))
			require.Equal(t, float64(i+1), m.Data["change"])
		}

		require.Equal(t, 200, ask("").status, "the first one is over")
		c.run()
		require.Len(t, r.all(), 10)
		require.Equal(t, 400, h.post("/admin/webhooks/"+id+"/replay", `{"from":"`+until+`","to":"`+began+`"}`).status)
		require.Equal(t, 404, ask(`,"customer":"nobody"`).status)

		numbered := func(body string) answer { return h.post("/admin/webhooks/"+id+"/replay", "{"+body+"}") }
		third, last := got[2].Sequence, got[4].Sequence
		from := fmt.Sprintf(`"from_sequence":%d,"customer":"member-1"`, third)
		require.Equal(t, json.Number("3"), data(t, numbered(from+`,"dry_run":true`))["events"])
		require.Equal(t, json.Number("1"), data(t, numbered(from+fmt.Sprintf(`,"to_sequence":%d`, third)))["events"])
		c.run()
		again := r.all()
		require.Len(t, again, 1)
		require.Equal(t, got[2].header.Get("webhook-id"), again[0].header.Get("webhook-id"), "as it was sent before")
		require.Equal(t, third, again[0].Sequence)
		require.Equal(t, "1", again[0].header.Get("webhook-replay"))
		require.Equal(t, json.Number("3"), data(t, numbered(from))["events"], "to the last one")
		c.run()
		require.Len(t, r.all(), 3)
		require.Equal(t, json.Number("0"), data(t, numbered(fmt.Sprintf(`"from_sequence":%d`, last+100)))["events"])
		replays := h.get("/admin/audit?action=webhook.replay")
		require.Contains(t, replays.body, `"to_sequence"`)
		require.Len(t, replays.json(t)["data"], 4, "where there is nothing to send, nothing was done")
		for body, field := range map[string]string{
			`"dry_run":true`: "from", `"from":"` + began + `"`: "to", `"to_sequence":4`: "from_sequence", `"from_sequence":0`: "from_sequence",
			`"from_sequence":4,"to_sequence":3`: "to_sequence", `"from_sequence":4,"from":"` + began + `"`: "from", `"from_sequence":4,"to":"` + until + `"`: "to",
		} {
			a := numbered(body)
			require.Equal(t, 400, a.status, body)
			require.Equal(t, []string{field}, a.fault(t).fields(), body)
		}
	})
}

// TestWebhookForgets: opt_out is told by the name that is forgotten, once; waiting messages of the customer name no
// person, and nothing of it is left behind.
func TestWebhookForgets(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("canary-bird")
		h.numbered()
		r, c := newReceiver(t), h.courier()
		id := h.hook(r, `["event.*"]`, `,"include":["figures","personal"],"confirm_personal":true`)
		r.says(func(w http.ResponseWriter, m *received) bool {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte("canary-bird is unknown here"))
			return false
		})

		h.add("canary-bird", "5")
		c.run()
		log := h.get("/admin/webhooks/" + id + "/deliveries/1").body
		require.Contains(t, log, "canary-bird is unknown here")
		require.Equal(t, 200, h.post("/events", `{"customer":"canary-bird","action":"opt_out","data":{}}`).status)
		c.run()
		require.NotContains(t, h.get("/admin/webhooks/"+id+"/deliveries/1").body, "canary")
		require.NotContains(t, h.get("/admin/webhooks/"+id+"/deliveries").body, "canary")
		for _, table := range []string{"deliveries", "attempts", "leavers"} {
			require.NotContains(t, dump(t, url, table), "canary", table)
		}

		r.status(204)
		c.pass(time.Minute)
		c.run()
		got := r.all()
		require.Len(t, got, 2)
		require.Nil(t, got[0].Customer, "what waited names nobody")
		require.NotContains(t, got[0].body, "canary")
		require.Equal(t, "event.opt_out", got[1].Type)
		require.Equal(t, "canary-bird", got[1].Customer.ID, "whom to forget")
		for _, d := range h.deliveries(id, "") {
			require.NotContains(t, h.get(fmt.Sprintf("/admin/webhooks/%s/deliveries/%v", id, d["delivery"])).body, "canary")
		}

		var left int
		require.NoError(t, storetest.Raw(t, url).QueryRow("SELECT count(*) FROM deliveries WHERE subject IS NOT NULL").Scan(&left))
		require.Zero(t, left, "the name goes when it was told")
		_, err := h.store.ForgetDeliveries(t.Context(), time.Now().Add(time.Hour))
		require.NoError(t, err)
		require.NoError(t, storetest.Raw(t, url).QueryRow("SELECT count(*) FROM leavers").Scan(&left))
		require.Zero(t, left)
	})
}

// dump writes every value of a table.
func dump(t *testing.T, url, table string) string {
	t.Helper()
	rows, err := storetest.Raw(t, url).Query("SELECT * FROM " + table)
	require.NoError(t, err)
	defer rows.Close()
	names, err := rows.Columns()
	require.NoError(t, err)
	var b strings.Builder
	for rows.Next() {
		values := make([]any, len(names))
		for i := range values {
			values[i] = new(any)
		}
		require.NoError(t, rows.Scan(values...))
		for _, v := range values {
			fmt.Fprintf(&b, "%s %v\n", *v.(*any), *v.(*any))
		}
	}

	require.NoError(t, rows.Err())
	return b.String()
}

// TestWebhooksAreBounded: there are so many and no more.
func TestWebhooksAreBounded(t *testing.T) {
	h := open(t, patient)
	for i := range 101 {
		a := h.post("/admin/webhooks", `{"url":"https://hooks.shop.test/","types":["event.*"]}`)
		if i < 100 {
			require.Equal(t, 201, a.status, a.body)
		} else {
			require.Equal(t, 422, a.status, a.body)
			require.Equal(t, 190503, a.fault(t).Code)
		}
	}
}
