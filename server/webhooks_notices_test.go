package server_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestNotices: what the platform has to say itself reaches the webhooks that asked for it,
// once, and fits the schema that is listed.
func TestNotices(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		raw := storetest.Raw(t, url)
		waiting := func() (n int) {
			require.NoError(t, raw.QueryRow("SELECT count(*) FROM notices").Scan(&n))
			return n
		}

		done(h, "/admin/modules/contests", `{"enabled":true}`)
		require.Zero(t, waiting(), "nothing is kept where nobody listens")
		r, c := newReceiver(t), h.courier()
		id := h.hook(r, `["programme.changed","job.failed","bulk.done","import.done","ledger.broken"]`, "")
		told := func() (list []received) {
			t.Helper()
			c.run()
			list = r.all()
			require.Zero(t, waiting())
			return list
		}

		schemas := schemasOf(t, h)
		one := func(kind string) map[string]any {
			t.Helper()
			list := told()
			require.Len(t, list, 1, "%v", list)
			require.Equal(t, kind, list[0].Type)
			require.Zero(t, list[0].Sequence)
			require.NoError(t, schemas[kind].VisitJSON(list[0].Data), "%v", list[0].Data)
			return list[0].Data
		}

		require.Empty(t, told(), "a webhook is no part of the programme")

		done(h, "/admin/modules/contests", `{"enabled":false}`)
		changed := one("programme.changed")
		require.Equal(t, map[string]any{"changes": []any{map[string]any{"action": "module.update", "target": "contests"}}, "count": float64(1)}, changed)
		require.Equal(t, http.StatusBadRequest, h.post("/admin/settings", `{"time_zone":"Nowhere/At_All"}`).status)
		require.Empty(t, told(), "what was refused is not told")

		h.enrol("member-1")
		h.enrol("member-2")
		require.Equal(t, http.StatusCreated, h.post("/entities/core/customer-list", `{"id":"vips","name":"VIPs"}`).status)
		require.Equal(t, "entity.create", one("programme.changed")["changes"].([]any)[0].(map[string]any)["action"])
		a := h.post("/v1/bulk-operation/customer-list/add/vips", `{"customers":["member-1","member-2","nobody"]}`)
		require.Less(t, a.status, 300, a.body)
		require.Equal(t, 200, h.post("/admin/jobs/bulk/run", "").status)
		bulk := one("bulk.done")
		require.Equal(t, float64(3), bulk["done"])
		require.Equal(t, float64(1), bulk["errors"])
		require.Equal(t, "vips", bulk["target"])
		require.Contains(t, a.body, bulk["batch_id"])

		i := h.newImport(`{"label":"Old"}`)
		require.Equal(t, http.StatusOK, i.part("members", 1, "customer,email\nold-1,canary-1@shop.test\nold-2,canary-2@shop.test\n").status)
		require.Equal(t, http.StatusOK, i.part("lots", 1, "customer,points,earned_at\nold-1,40,2026-01-05\n").status)
		require.Equal(t, "ready", i.do("check")["status"], i.findings())
		require.Empty(t, told(), "nothing was done yet")
		require.Equal(t, "done", i.do("apply")["status"])
		imported := one("import.done")
		require.Equal(t, []any{i.id, float64(3), float64(0)}, []any{imported["batch_id"], imported["done"], imported["errors"]}, "%v", imported)
		require.NotContains(t, fmt.Sprint(imported), "canary")
		require.Equal(t, http.StatusOK, h.get("/customers/old-2").status)

		_, err := raw.Exec("ALTER TABLE answers RENAME TO answers_away")
		require.NoError(t, err)
		for range 2 {
			h.post("/admin/jobs/answers/run", "")
		}

		require.Equal(t, "answers", one("job.failed")["job"], "once, as long as it fails")
		_, err = raw.Exec("ALTER TABLE answers_away RENAME TO answers")
		require.NoError(t, err)
		require.Equal(t, 200, h.post("/admin/jobs/answers/run", "").status)
		require.Empty(t, told())

		data(t, h.get("/admin/ledger?verify=true"))
		require.Empty(t, told())
		_, err = raw.Exec("UPDATE balances SET score = score + 1")
		require.NoError(t, err)
		data(t, h.get("/admin/ledger?verify=true"))
		require.NotEmpty(t, one("ledger.broken")["invariants"])
		require.Len(t, h.deliveries(id, "?type=programme.changed"), 2)
	})
}

// schemasOf reads the schema of each type of message.
func schemasOf(t *testing.T, h *house) map[string]*openapi3.Schema {
	t.Helper()
	require.NotContains(t, h.get("/admin/webhook-types?limit=1000").body, `"schema"`, "unless it is asked for")
	all := map[string]*openapi3.Schema{}
	for _, entry := range h.get("/admin/webhook-types?limit=1000&schemas=true").json(t)["data"].([]any) {
		raw, err := json.Marshal(entry.(map[string]any)["schema"])
		require.NoError(t, err)
		s := &openapi3.Schema{}
		require.NoError(t, json.Unmarshal(raw, s), string(raw))
		all[entry.(map[string]any)["type"].(string)] = s
	}
	return all
}

// TestMessagesFitTheirSchemas: what is sent of events is as the list of types has it, also
// of the programme's own actions, and with personal data where that was asked for.
func TestMessagesFitTheirSchemas(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		done(h, "/admin/modules/custom_events", `{"enabled":true}`)
		done(h, "/entities/custom-events/action", `{"name":"tasting","schema":{"type":"object","properties":{"cups":{"type":"integer"}}}}`)
		h.enrol("member-1")
		h.numbered()
		r, c := newReceiver(t), h.courier()
		h.hook(r, `["event.*"]`, `,"include":["personal"],"confirm_personal":true`)
		h.enrol("member-2")
		for _, body := range []string{
			`"profile","data":{"first_name":"Secretia","last_name":"Canary"}`, `"tasting","data":{"cups":2}`, `"point_add","data":{"points":700}`,
			`"checkout","data":{"transaction_id":"T-1","total":12.5,"items":[{"product_id":"p","product_name":"Tea","product_url":"https://shop.example.com/p","quantity":1,"subtotal":12.5}]}`,
		} {
			h.does("/events", `{"customer":"member-1","action":`+body+`}`)
		}

		c.run()
		schemas, seen := schemasOf(t, h), map[string]bool{}
		for _, m := range r.all() {
			require.NotNil(t, schemas[m.Type], m.Type)
			require.NoError(t, schemas[m.Type].VisitJSON(m.Data), m.body)
			seen[m.Type] = true
			if m.Type == "event.profile" && m.Customer.ID == "member-1" {
				require.Contains(t, m.body, "Secretia", "personal data where it was asked for")
			}
		}

		for _, kind := range []string{"opt_in", "profile", "tasting", "point_add", "checkout"} {
			require.True(t, seen["event."+kind], "%s of %v", kind, seen)
		}

		cups := schemas["event.tasting"].Properties["data"].Value.Properties["cups"]
		require.NotNil(t, cups, "the programme's own attributes")
		require.Error(t, schemas["event.tasting"].VisitJSON(map[string]any{"action": "tasting", "change": 0.0, "timestamp": "x", "data": map[string]any{"cups": "two"}}))
	})
}

// TestLongMessages: what makes a message longer than 64 KiB is left out, and the message says
// so: first the items, then all attributes.
func TestLongMessages(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		done(h, "/admin/modules/custom_events", `{"enabled":true}`)
		h.enrol("member-1")
		h.numbered()
		r, c := newReceiver(t), h.courier()
		h.hook(r, `["event.checkout","event.point_add"]`, "")
		items := make([]string, 300)
		for i := range items {
			items[i] = fmt.Sprintf(`{"product_id":"p-%d","product_name":"%s","product_url":"https://shop.example.com/p","quantity":1,"subtotal":1}`, i, strings.Repeat("n", 250))
		}

		h.does("/events", `{"customer":"member-1","action":"checkout","data":{"transaction_id":"T-1","total":300,"items":[`+strings.Join(items, ",")+`]}}`)
		h.add("member-1", "3")
		c.run()
		got := r.all()
		require.Len(t, got, 2)
		require.LessOrEqual(t, len(got[0].body), 64<<10)
		require.Equal(t, true, got[0].Data["truncated"])
		require.Equal(t, "T-1", got[0].Data["transaction_id"])
		attributes := got[0].Data["data"].(map[string]any)
		require.NotContains(t, attributes, "items")
		require.Equal(t, float64(300), attributes["total"], "the rest is there")
		require.NotContains(t, got[1].Data, "truncated")
	})
}

// TestUnorderedWebhook: without an order a customer's messages do not wait for each other; with
// one they do.
func TestUnorderedWebhook(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("member-1")
		h.numbered()
		ordered, free, c := newReceiver(t), newReceiver(t), h.courier()
		h.hook(ordered, `["event.point_add"]`, "")
		h.hook(free, `["event.point_add"]`, `,"ordering":"none"`)
		first := func(w http.ResponseWriter, m *received) bool {
			if m.Data["change"] == float64(1) {
				w.WriteHeader(http.StatusInternalServerError)
				return false
			}
			return true
		}

		ordered.says(first)
		free.says(first)
		for _, points := range []string{"1", "2", "3"} {
			h.add("member-1", points)
		}

		c.run()
		require.Empty(t, ordered.all(), "the first one is not taken")
		got := free.all()
		require.Len(t, got, 2)
		ordered.status(204)
		free.status(204)
		c.pass(time.Minute)
		c.run()
		require.Len(t, ordered.all(), 3)
		late := free.all()
		require.Len(t, late, 1)
		require.Equal(t, float64(1), late[0].Data["change"])
		require.Less(t, late[0].Sequence, got[0].Sequence)
	})
}

// TestPublicKeySignatures: a webhook whose address is to have no secret is verified by its
// public key, during a rotation by both; the key that signs is never shown.
func TestPublicKeySignatures(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("member-1")
		h.numbered()
		r, c := newReceiver(t), h.courier()
		a := h.makes("/admin/webhooks", `{"url":"`+r.URL+`/hook","types":["event.point_add"],"signature":"ed25519"}`)
		made := data(t, a)
		require.NotContains(t, made, "secret")
		require.Equal(t, "ed25519", made["signature"])
		path := "/admin/webhooks/" + made["webhook_id"].(string)
		keys := func() (list []ed25519.PublicKey) {
			for _, s := range data(t, h.get(path))["secrets"].([]any) {
				text, good := strings.CutPrefix(s.(map[string]any)["public_key"].(string), "whpk_")
				require.True(t, good)
				key, err := base64.StdEncoding.DecodeString(text)
				require.NoError(t, err)
				require.Len(t, key, ed25519.PublicKeySize)
				list = append(list, key)
			}
			return list
		}

		verified := func() int {
			t.Helper()
			h.add("member-1", "1")
			c.run()
			got := r.all()
			require.Len(t, got, 1)
			m, n := got[0], 0
			signed := []byte(m.header.Get("webhook-id") + "." + m.header.Get("webhook-timestamp") + "." + m.body)
			signatures := strings.Fields(m.header.Get("webhook-signature"))
			for _, key := range keys() {
				for _, s := range signatures {
					text, good := strings.CutPrefix(s, "v1a,")
					require.True(t, good, s)
					raw, err := base64.StdEncoding.DecodeString(text)
					require.NoError(t, err)
					require.False(t, ed25519.Verify(key, append(signed, '!'), raw))
					if ed25519.Verify(key, signed, raw) {
						n++
					}
				}
			}

			require.Len(t, signatures, n)
			parent := m.header.Get("traceparent")
			require.Regexp(t, regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-01$`), parent)
			require.Equal(t, strings.ReplaceAll(m.ID, "-", ""), parent[3:35], "the trace of an event")
			return n
		}

		require.Equal(t, 1, verified())
		before := keys()
		turned := h.post(path+"/rotate", `{"overlap_seconds":3600}`)
		require.Equal(t, 200, turned.status, turned.body)
		require.NotContains(t, turned.body, `"secret"`)
		require.Equal(t, 2, verified())
		require.Equal(t, before[0], keys()[0], "the oldest first")
		require.NotContains(t, a.body+turned.body+h.get(path).body+h.get("/admin/audit").body, "whsk_")
		require.Equal(t, 400, h.post(path, `{"signature":"hmac"}`).status, "it cannot be changed")
	})
}
