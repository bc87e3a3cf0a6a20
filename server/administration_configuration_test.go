package server_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// programmePieces make a programme with something of nearly every type.
var programmePieces = [][2]string{
	{"/admin/settings", `{"currency":"HUF","time_zone":"Europe/Budapest"}`},
	{"/admin/modules/custom_entities", `{"enabled":true}`},
	{"/admin/modules/contests", `{"enabled":true}`},
	{"/admin/modules/incentivized_purchase", `{"config":{"rate":1.50,"currency_rates":{"EUR":2,"HUF":0.005}}}`},
	{"/entities/custom-entities/attribute", `{"id":"origin","on":"rewards/reward","name":"origin","type":"string","tags":["filterable","api"]}`},
	{"/entities/custom-entities/attribute", `{"id":"brand-name","on":"custom/brand","name":"slogan","type":"string","tags":["api"]}`},
	{"/entities/custom/brand", `{"id":"bean","cf_slogan":"On & on: yes"}`},
	{"/entities/core/customer-list", `{"id":"spring-2026","name":"Spring"}`},
	{"/entities/products/product", `{"id":"coffee-1kg","name":"Coffee","category":"coffee"}`},
	{"/entities/stores/store", `{"id":"budapest.1","name":"Budapest 1"}`},
	{"/entities/coupons/pool", `{"id":"spring","name":"Spring","source":"uploaded","coupon":{"type":"amount","value":3.50,"name":{"en":"Spring"}}}`},
	{"/entities/rewards/reward", `{"id":"mug","title":{"en":"Mug","hu":"Bögre"},"type":"physical","points":100,"stock":5,"cf_origin":"2026-01-01"}`},
	{"/entities/rewards/reward", `{"id":"voucher","title":{"en":"Voucher"},"type":"coupon","points":20,"pool":"spring"}`},
	{"/entities/tiers/structure", `{"id":"club","name":"Club","base":"points","window":{"kind":"calendar"}}`},
	{"/entities/tiers/tier", `{"id":"gold","structure":"club","name":{"en":"Gold"},"threshold":1000}`},
	{"/entities/contests/contest", `{"id":"raffle","title":{"en":"Raffle"},"points":5,"max_entries":10}`},
	{"/entities/automation/campaign", `{"id":"double","name":"Double","trigger":"checkout","effects":[{"type":"multiply","factor":2}],"status":"draft"}`},
	{"/admin/modules/contests", `{"enabled":false}`}, // what it had stays, and is exported
}

func (h *house) export() map[string]any { return data(h.t, h.get("/admin/configuration")) }

func (h *house) configure(mode string, prune bool, configuration any, headers ...string) answer {
	h.t.Helper()
	body, err := json.Marshal(map[string]any{"mode": mode, "prune": prune, "configuration": configuration})
	require.NoError(h.t, err)
	return h.post("/admin/configuration", string(body), headers...)
}

// changed lists the differences of an answer, such as "create stores/store vienna-1".
func changed(t *testing.T, a answer) []string {
	t.Helper()
	require.Equal(t, http.StatusOK, a.status, a.body)
	list := []string{}
	for _, d := range data(t, a)["differences"].([]any) {
		d := d.(map[string]any)
		what := d["section"].(string)
		if kind, ok := d["type"]; ok {
			what = kind.(string)
		}
		list = append(list, d["change"].(string)+" "+what+" "+d["id"].(string))
	}
	return list
}

// TestConfigurationMoves: what one programme exports makes another the same, at once
// and only once.
func TestConfigurationMoves(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		from := openOn(t, url)
		for _, p := range programmePieces {
			done(from, p[0], p[1])
		}

		exported := from.export()
		text := from.get("/admin/configuration").body
		require.NotContains(t, text, from.key.Secret)
		require.NotContains(t, text, from.key.KeyID)
		require.Contains(t, text, `"rate":1.5`)
		require.Contains(t, text, `"cf_slogan"`)
		require.Contains(t, exported["entities"].(map[string]any), "quizzes/quiz", "types without entities too")
		require.Empty(t, changed(t, from.configure("plan", true, exported)), "it is what it is")

		to := open(t)
		planned := changed(t, to.configure("plan", false, exported))
		require.Contains(t, planned, "update settings currency")
		require.Contains(t, planned, "update modules custom_entities")
		require.Contains(t, planned, "create rewards/reward voucher")
		require.NotEqual(t, exported, to.export(), "a plan changes nothing")
		require.Equal(t, planned, changed(t, to.configure("apply", false, exported)))
		require.Equal(t, exported, to.export())
		require.Empty(t, changed(t, to.configure("apply", true, exported)))
		require.Equal(t, "HUF", data(t, to.get("/admin/settings"))["currency"])
		require.Equal(t, "Bögre", data(t, to.get("/entities/rewards/reward/mug"))["title"].(map[string]any)["hu"])
	})
}

// TestConfigurationOfOlderValues: an entity whose value is older than the declaration that it does not fit is no fault of a
// configuration that leaves it as it stands; one that a configuration makes or changes is checked.
func TestConfigurationOfOlderValues(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		done(h, "/entities/stores/store", `{"id":"first","name":"First","cf_opened":"long ago","cf_size":3.50}`)
		h.declare("stores/store", map[string]string{"opened": "date"})
		exported := h.export()
		require.Empty(t, changed(t, h.configure("apply", true, exported)))
		place := []string{`configuration.entities["stores/store"].first.cf_opened`}
		require.Equal(t, place, refused(t, open(t).configure("plan", false, exported), http.StatusBadRequest, 190010).fields())
		exported["entities"].(map[string]any)["stores/store"].(map[string]any)["first"].(map[string]any)["name"] = "Second"
		require.Equal(t, place, refused(t, h.configure("plan", false, exported), http.StatusBadRequest, 190010).fields())
	})
}

func TestConfigurationChanges(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		stores := func(list map[string]any) map[string]any {
			return map[string]any{"entities": map[string]any{"stores/store": list}}
		}
		two := stores(map[string]any{"a": map[string]any{"name": "A"}, "b": map[string]any{"name": "B"}})
		require.Equal(t, []string{"create stores/store a", "create stores/store b"}, changed(t, h.configure("apply", false, two, "Idempotency-Key", "once")))
		again := h.configure("apply", false, two, "Idempotency-Key", "once")
		require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
		require.Len(t, changed(t, again), 2, "the first answer")

		one := stores(map[string]any{"a": map[string]any{"name": "A 2"}})
		a := h.configure("apply", false, one)
		require.Equal(t, []string{"update stores/store a"}, changed(t, a))
		d := data(t, a)["differences"].([]any)[0].(map[string]any)
		require.Equal(t, map[string]any{"name": "A"}, d["before"])
		require.Equal(t, map[string]any{"name": "A 2"}, d["after"])
		require.Equal(t, []string{"archive stores/store b"}, changed(t, h.configure("plan", true, one)))
		require.Equal(t, []string{"archive stores/store b"}, changed(t, h.configure("apply", true, one)))
		require.NotNil(t, data(t, h.get("/entities/stores/store/b"))["archived_at"])
		require.Empty(t, changed(t, h.configure("apply", true, map[string]any{})), "types that are not named stay")
		require.Equal(t, []string{"update stores/store a", "restore stores/store b"}, changed(t, h.configure("apply", false, two)))
		require.Nil(t, data(t, h.get("/entities/stores/store/b"))["archived_at"])

		trail := h.get("/admin/audit?target=stores/store/b")
		actions := []string{}
		for _, e := range trail.json(t)["data"].([]any) {
			actions = append(actions, e.(map[string]any)["action"].(string))
		}

		require.Equal(t, []string{"entity.restore", "entity.archive", "entity.create"}, actions)

		form := h.form("/admin/configuration", "mode=apply&configuration[settings][acceptance_window_seconds]=400&configuration[entities][stores/store][c][name]=C")
		require.Equal(t, []string{"update settings acceptance_window_seconds", "create stores/store c"}, changed(t, form))

		readOnly := true
		reader := h.newKey(admin.KeyChange{ReadOnly: &readOnly})
		refused := h.signed(reader, h.request(http.MethodPost, "/admin/configuration", `{"mode":"plan","configuration":{}}`, "Content-Type", jsonType))
		require.Equal(t, http.StatusForbidden, refused.status)
		require.Equal(t, http.StatusOK, h.signed(reader, h.request(http.MethodGet, "/admin/configuration", "")).status)
	})
}

// TestConfigurationFaults: an error names its place, and nothing of the document is
// done.
func TestConfigurationFaults(t *testing.T) {
	h := open(t)
	done(h, "/entities/coupons/pool", `{"id":"spring","name":"Spring","source":"uploaded","coupon":{"type":"amount","value":3,"name":{"en":"Spring"}}}`)
	done(h, "/entities/rewards/reward", `{"id":"voucher","title":{"en":"Voucher"},"type":"coupon","points":20,"pool":"spring"}`)
	before := h.export()
	for _, c := range []struct {
		configuration string
		status        int
		fields        []string
	}{
		{`{"settings":{"time_zone":"Mars/Base"}}`, 400, []string{"configuration.settings.time_zone"}},
		{`{"settings":{"region":"eu"}}`, 400, []string{"configuration.settings.region"}},
		{`{"modules":{"teleport":{"enabled":true}}}`, 400, []string{"configuration.modules.teleport"}},
		{`{"modules":{"stores":{"enabled":true},"store":{"enabled":true}}}`, 400, []string{"configuration.modules.stores"}},
		{`{"modules":{"points_economy":{"config":{"expiry":{"policy":"calendar","date":"02-31"}}}}}`, 400, []string{"configuration.modules.points_economy.config.expiry.date"}},
		{`{"modules":{"pending_events":{"enabled":true,"config":{"actions":["nonsense"]}}}}`, 400, []string{"configuration.modules.pending_events.config.actions[0]"}},
		{`{"modules":{"checkout_accept":{"enabled":true},"pending_events":{"enabled":true}}}`, 422, []string{"configuration.modules"}},
		{`{"entities":{"nonsense/thing":{"x":{}}}}`, 400, []string{`configuration.entities["nonsense/thing"]`}},
		{`{"entities":{"core/customer":{"member-1001":{}}}}`, 400, []string{`configuration.entities["core/customer"]`}},
		{`{"entities":{"rewards/reward":{"mug":{"points":"many"},"a.b":{"title":{"en":"X"},"type":"physical","points":1,"colour":"red"}},"stores/store":{"new":{"name":"New"}}}}`, 400,
			[]string{
				`configuration.entities["rewards/reward"].mug.points`, `configuration.entities["rewards/reward"].mug.title`,
				`configuration.entities["rewards/reward"].mug.type`, `configuration.entities["rewards/reward"]["a.b"].colour`,
			}},
		{`{"entities":{"rewards/reward":{"mug":{"title":{"en":"Mug"},"type":"coupon","points":1,"pool":"summer"}},"stores/store":{"new":{"name":"New"}}}}`, 400,
			[]string{`configuration.entities["rewards/reward"].mug.pool`}},
		{`{"entities":{"coupons/pool":{}}}`, 422, []string{"configuration.entities"}}, // a reward needs one
		{`{"entities":[]}`, 400, []string{"configuration.entities"}},
		{`{"entities":{"stores/store":{"x":5}}}`, 400, []string{"configuration.entities.stores/store.x"}},
		{`{"nonsense":1}`, 400, []string{"configuration.nonsense"}},
	} {
		for _, mode := range []string{"plan", "apply"} {
			a := h.configure(mode, true, json.RawMessage(c.configuration))
			require.Equal(t, c.status, a.status, "%s: %s", c.configuration, a.body)
			fields := a.fault(t).fields()
			slices.Sort(fields)
			require.Equal(t, c.fields, fields, "%s: %s", c.configuration, a.body)
		}
	}

	require.Equal(t, []string{"mode"}, h.post("/admin/configuration", `{"mode":"do","configuration":{}}`).fault(t).fields())
	require.Equal(t, before, h.export(), "nothing of it was done")
}
