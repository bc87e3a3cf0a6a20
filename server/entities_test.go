package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/loyalty-platform/loyalty/server/loyalty/action"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/servertest"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// entityOrder is the order in which the request collection creates an entity of each type: its user begins with an
// empty programme, so each must come after those it refers to.
func entityOrder(t *testing.T) []string {
	t.Helper()
	text, err := openapi.Collection("entities")
	require.NoError(t, err)
	var collection struct {
		Item []struct {
			Item []struct {
				Request struct {
					Method string
					URL    struct{ Path []string }
				}
			}
		}
	}

	require.NoError(t, json.Unmarshal(text, &collection))
	var order []string
	for _, folder := range collection.Item {
		for _, item := range folder.Item {
			if path := item.Request.URL.Path; item.Request.Method == http.MethodPost && len(path) == 3 {
				order = append(order, path[1]+"/"+path[2])
			}
		}
	}

	return order
}

// patient lets a test send as much as it likes.
func patient(o *server.Options) { o.Limiter = unlimited{} }

// everyModule switches on what a fresh database has off.
func (h *house) everyModule() {
	h.t.Helper()
	for _, module := range []string{"contests", "prize_wheels", "quizzes", "profiling", "custom_events", "custom_entities", "visual_search", "customer_login"} {
		h.does("/admin/modules/"+module, `{"enabled":true}`)
	}
}

// entityExamples gives the example of each entity as JSON, by type.
func entityExamples(t *testing.T) map[string]string {
	t.Helper()
	doc := servertest.Documents()["entities"]
	examples := doc.Paths.Value("/entities/{module}/{entity}").Post.RequestBody.Value.Content.Get("application/json").Examples
	all := map[string]string{}
	for kind, name := range doc.Extensions["x-entities"].(map[string]any) {
		text, err := json.Marshal(examples[name.(string)].Value.Value)
		require.NoError(t, err)
		all[strings.Replace(kind, "{kind}", "machine", 1)] = string(text)
	}
	return all
}

// TestEveryEntityExampleWorks sends each example of the Entities document as
// JSON and as a form, on both databases, reads it back and archives it.
//
// spec: service.api.entities
func TestEveryEntityExampleWorks(t *testing.T) {
	examples, entityOrder := entityExamples(t), entityOrder(t)
	require.ElementsMatch(t, entityOrder, slices.Collect(maps.Keys(examples)))
	require.ElementsMatch(t, slices.DeleteFunc(slices.Clone(entityOrder), func(kind string) bool { return kind == "custom/machine" }), action.Registry().EntityTypes())
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.everyModule()
		for _, kind := range entityOrder {
			h.creates(kind, examples[kind], h.post("/entities/"+kind, examples[kind]))
		}
		for _, kind := range slices.Backward(entityOrder) {
			h.archives(kind, examples[kind])
		}
	})

	t.Run("form", func(t *testing.T) {
		h := open(t, patient)
		h.everyModule()
		untyped := strings.NewReplacer(`"free_delivery":true`, `"free_delivery":"true"`, `"cf_priority":true`, `"cf_priority":"true"`)
		for _, kind := range entityOrder {
			h.creates(kind, untyped.Replace(examples[kind]), h.form("/entities/"+kind, formOf(t, examples[kind])))
		}
	})
}

// creates looks at the answer to a creation: the entity is as it was sent, can
// be read, stands in the list, and its id is taken.
func (h *house) creates(kind, sent string, a answer) {
	h.t.Helper()
	require.Equal(h.t, http.StatusCreated, a.status, "%s: %s", kind, a.body)
	made := data(h.t, a)
	require.JSONEq(h.t, sent, fieldsSent(h.t, sent, made), kind)
	require.Equal(h.t, kind, fmt.Sprint(made["module"], "/", made["entity"]))
	read := h.sees("/entities/" + kind + "/" + made["id"].(string))
	require.Equal(h.t, made, data(h.t, read), kind)
	require.Equal(h.t, []any{made}, h.get("/entities/" + kind).json(h.t)["data"], kind)

	taken := h.post("/entities/"+kind, sent)
	require.Equal(h.t, http.StatusConflict, taken.status, taken.body)
	require.Equal(h.t, []string{"id"}, taken.fault(h.t).fields())
}

// fieldsSent is an entity as it would be sent: what dates make of it is shown beside
// what was sent.
func fieldsSent(t *testing.T, sent string, shown map[string]any) string {
	t.Helper()
	own := maps.Clone(shown)
	if !strings.Contains(sent, `"status":`) {
		delete(own, "status")
	}
	for name, value := range own { // a bare day is shown as the instant at which it begins or ends
		if text, ok := value.(string); ok && len(text) > 10 && strings.Contains(sent, `"`+name+`":"`+text[:10]+`"`) {
			own[name] = text[:10]
		}
	}
	return ownFields(t, own)
}

// archives archives the only entity of a type: it leaves the list, stays
// readable and cannot be changed.
func (h *house) archives(kind, sent string) {
	h.t.Helper()
	e := h.get("/entities/" + kind).json(h.t)["data"].([]any)[0].(map[string]any)
	path := "/entities/" + kind + "/" + e["id"].(string)
	a := h.does(path+"/archive", "")
	archived := data(h.t, a)
	require.NotEmpty(h.t, archived["archived_at"])
	require.Equal(h.t, archived, data(h.t, h.post(path+"/archive", "")), "archiving again changes nothing")
	require.Equal(h.t, archived, data(h.t, h.get(path)))
	require.Empty(h.t, h.get("/entities/" + kind).json(h.t)["data"])
	require.Equal(h.t, []any{archived}, h.get("/entities/" + kind + "?archived=true").json(h.t)["data"])
	refused := h.post(path, `{"cf_a":1}`)
	require.Equal(h.t, http.StatusUnprocessableEntity, refused.status, refused.body)
	require.Equal(h.t, http.StatusConflict, h.post("/entities/"+kind, fieldsSent(h.t, sent, e)).status, "the id stays taken")
}

const oneStore = `{"id":"s-1","name":"Store"}`

// TestEntityUpdates: what is sent replaces, null removes, the rest stays.
func TestEntityUpdates(t *testing.T) {
	h := open(t)
	const path = "/entities/rewards/reward"
	a := h.makes(path, `{"title":{"en":"Mug","hu":"Bögre"},"type":"physical","points":300,"stock":5,"tags":null,"ends_at":"2099-01-01","image":{"small":"https://shop.test/s.png"},"cf_a":{"b":[1.50]},"cf_c":1}`)
	made := data(t, a)
	require.Contains(t, a.body, "1.50", "numbers stay as they were written")
	id := made["id"].(string)
	require.Len(t, id, 36, "an id was chosen")

	a = h.does(path+"/"+id, `{"points":250,"title":{"en":"Cup"},"stock":null,"cf_a":null}`)
	now := data(t, a)
	require.Equal(t, "250", fmt.Sprint(now["points"]))
	require.Equal(t, map[string]any{"en": "Cup"}, now["title"], "objects are replaced as a whole")
	for _, gone := range []string{"stock", "cf_a"} {
		require.NotContains(t, now, gone)
	}

	for _, kept := range []string{"type", "ends_at", "image", "cf_c", "created_at"} {
		require.Equal(t, made[kept], now[kept], kept)
	}

	a = h.form(path+"/"+id, "ends_at=&points=200&title[hu]=Cs%C3%A9sze&title[en]=Cup&cf_c=")
	require.Equal(t, http.StatusOK, a.status, a.body)
	now = data(t, a)
	require.Equal(t, "200", fmt.Sprint(now["points"]))
	require.Equal(t, map[string]any{"en": "Cup", "hu": "Csésze"}, now["title"])
	require.NotContains(t, now, "ends_at", "an empty value of a form removes")
	require.NotContains(t, now, "cf_c")
	require.JSONEq(t, ownFields(t, now), ownFields(t, data(t, h.post(path+"/"+id, ""))), "nothing sent, nothing changed")
}

// TestBadEntities: every fault names its field, on creation and in an update.
func TestBadEntities(t *testing.T) {
	h := open(t)
	h.everyModule()
	for _, c := range []struct {
		kind, body, field string
		code              int
	}{
		{"stores/store", `{}`, "name", 0},
		{"stores/store", `{"name":" "}`, "name", 0},
		{"stores/store", `{"name":null}`, "name", 0},
		{"stores/store", `{"name":1}`, "name", 190010},
		{"stores/store", `{"name":"x","label":"y"}`, "label", 190011},
		{"stores/store", `{"name":"x","module":"stores"}`, "module", 190011},
		{"stores/store", `{"name":"x","Name":"y"}`, "Name", 190011},
		{"stores/store", `{"name":"x","id":"-"}`, "id", 190014},
		{"stores/store", `{"name":"x","id":5}`, "id", 190010},
		{"rewards/reward", `{"title":{"en":"Mug"},"type":"custom","id":"claims"}`, "id", 190014},
		{"rewards/reward", `{"title":{},"type":"custom"}`, "title", 190010},
		{"rewards/reward", `{"title":"Mug","type":"custom"}`, "title", 190010},
		{"rewards/reward", `{"title":{"eng":"Mug"},"type":"custom"}`, "title.eng", 190010},
		{"rewards/reward", `{"title":{"EN":"Mug"},"type":"custom"}`, "title.EN", 190010},
		{"rewards/reward", `{"title":{"en":""},"type":"custom"}`, "title.en", 190010},
		{"rewards/reward", `{"title":{"en":"Mug"},"type":"voucher"}`, "type", 190010},
		{"rewards/reward", `{"title":{"en":"Mug"},"type":"custom","points":-1}`, "points", 190010},
		{"rewards/reward", `{"title":{"en":"Mug"},"type":"custom","points":1.5}`, "points", 190010},
		{"rewards/reward", `{"title":{"en":"Mug"},"type":"custom","starts_at":"2026-02-30"}`, "starts_at", 190010},
		{"rewards/reward", `{"title":{"en":"Mug"},"type":"custom","starts_at":"2026-03-01","ends_at":"2026-02-28"}`, "ends_at", 190010},
		{"rewards/reward", `{"title":{"en":"Mug"},"type":"custom","image":{"tiny":"https://shop.test/x"}}`, "image.tiny", 190011},
		{"rewards/reward", `{"title":{"en":"Mug"},"type":"custom","image":{"small":"x.png"}}`, "image.small", 190010},
		{"rewards/reward", `{"title":{"en":"Mug"},"type":"coupon","pool":"none"}`, "pool", 190010},
		{"rewards/reward", `{"title":{"en":"Mug"},"type":"coupon","coupon":{"type":"amount","value":0.00001}}`, "coupon.value", 0},
		{"prize-wheels/wheel", `{"name":{"en":"Wheel"},"options":[{"type":"empty","label":{"en":"No"},"weight":1,"points":1}]}`, "options[0].points", 190011},
		{"prize-wheels/wheel", `{"name":{"en":"Wheel"},"options":[{"type":"gift","label":{"en":"No"},"weight":1}]}`, "options[0].type", 190010},
		{"prize-wheels/wheel", `{"name":{"en":"Wheel"},"options":[{"label":{"en":"No"},"weight":1}]}`, "options[0].type", 0},
		{"automation/campaign", `{"name":"C","trigger":"visit","effects":[{"type":"points"}]}`, "effects[0].points", 0},
		{"automation/campaign", `{"name":"C","trigger":"visit","effects":[{"type":"points","points":5}],"condition":"customer.score >"}`, "condition", 190010},
		{"custom-events/action", `{"name":"opt_in","schema":{"type":"object","properties":{"email":{"type":"string"}}}}`, "schema.properties.email", 190010},
		{"custom-events/action", `{"name":"tier_up","schema":{"type":"object"}}`, "name", 190010},
	} {
		a := h.post("/entities/"+c.kind, c.body)
		require.Equal(t, http.StatusBadRequest, a.status, "%s %s: %s", c.kind, c.body, a.body)
		require.Equal(t, []string{c.field}, a.fault(t).fields(), "%s: %s", c.body, a.body)
		require.Equal(t, c.code, a.fault(t).Code, c.body)
	}

	require.Equal(t, http.StatusCreated, h.post("/entities/stores/store", oneStore).status)
	for body, field := range map[string]string{
		`{"name":null}`: "name", `{"name":""}`: "name", `{"name":2}`: "name", `{"label":null}`: "label", `{"id":"s-2"}`: "id", `{"label":"x"}`: "label",
	} {
		a := h.post("/entities/stores/store/s-1", body)
		require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", body, a.body)
		require.Equal(t, []string{field}, a.fault(t).fields(), body)
	}

	require.JSONEq(t, oneStore, ownFields(t, data(t, h.get("/entities/stores/store/s-1"))), "nothing was changed")
}

// TestEntitiesThatAreNotThere: an unknown type, an unknown id and a module that
// is off are 404, before anything is said of the body.
func TestEntitiesThatAreNotThere(t *testing.T) {
	h := open(t)
	for target, code := range map[string]int{
		"/entities/stores/shop": 190024, "/entities/store/store": 190024,
		"/entities/stores/store/none": 190025, "/entities/contests/contest": 160600, "/entities/contests/contest/none": 160600,
	} {
		for _, a := range []answer{h.get(target), h.post(target, `{"nonsense":true}`)} {
			if code == 190025 && a.status == http.StatusBadRequest {
				continue // the type is known, so its schema speaks first
			}
			require.Equal(t, http.StatusNotFound, a.status, "%s: %s", target, a.body)
			require.Equal(t, code, a.fault(t).Code, target)
		}
	}

	require.Equal(t, http.StatusNotFound, h.post("/entities/stores/store/none", `{"name":"x"}`).status)
	require.Equal(t, http.StatusNotFound, h.post("/entities/stores/store/none/archive", "").status)
}

// TestEntitiesInUse: an entity that another one names cannot be archived.
func TestEntitiesInUse(t *testing.T) {
	h := open(t)
	examples := entityExamples(t)
	for _, kind := range []string{"tiers/structure", "tiers/tier"} {
		require.Equal(t, http.StatusCreated, h.post("/entities/"+kind, examples[kind]).status)
	}
	a := h.post("/entities/tiers/structure/club/archive", "")
	require.Equal(t, http.StatusUnprocessableEntity, a.status, a.body)
	require.Contains(t, a.body, "tiers/tier gold")
	require.Equal(t, http.StatusOK, h.post("/entities/tiers/tier/gold/archive", "").status)
	require.Equal(t, http.StatusOK, h.post("/entities/tiers/structure/club/archive", "").status)
}

// TestEntityIdempotency: a repeated creation without an id makes no second one.
func TestEntityIdempotency(t *testing.T) {
	h := open(t)
	first := h.makes("/entities/stores/store", `{"name":"Once"}`, "Idempotency-Key", "k")
	again := h.post("/entities/stores/store", `{"name":"Once"}`, "Idempotency-Key", "k")
	require.Equal(t, http.StatusCreated, again.status)
	require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	require.Equal(t, first.body, again.body)
	require.Len(t, h.get("/entities/stores/store").json(t)["data"], 1)
	require.Equal(t, http.StatusConflict, h.post("/entities/stores/store", `{"name":"Twice"}`, "Idempotency-Key", "k").status)
}

func TestListEntities(t *testing.T) {
	h := open(t)
	for i := range 5 {
		require.Equal(t, http.StatusCreated, h.post("/entities/stores/store", fmt.Sprintf(`{"id":"s-%d","name":"S"}`, i)).status)
	}

	require.Equal(t, http.StatusOK, h.post("/entities/stores/store/s-2/archive", "").status)
	var ids []string
	for target := "/entities/stores/store?limit=2"; target != ""; {
		a := h.sees(target)
		for _, e := range a.json(t)["data"].([]any) {
			ids = append(ids, e.(map[string]any)["id"].(string))
		}
		target, _ = a.json(t)["next"].(string)
	}

	require.Equal(t, []string{"s-0", "s-1", "s-3", "s-4"}, ids)
	require.Equal(t, http.StatusBadRequest, h.get("/entities/stores/store?archived=perhaps").status)
	require.Equal(t, http.StatusBadRequest, h.get("/entities/stores/store?label=S").status)
}

// TestDeclaredAttributes: a declared attribute is checked, as JSON and as a
// form; what is not declared is kept as it comes.
func TestDeclaredAttributes(t *testing.T) {
	h := open(t)
	h.everyModule()
	for name, kind := range map[string]string{"n": "integer", "d": "date", "b": "boolean", "f": "number", "s": "string"} {
		h.makes("/entities/custom-entities/attribute", fmt.Sprintf(`{"on":"stores/store","name":%q,"type":%q}`, name, kind))
	}

	a := h.makes("/entities/custom-entities/attribute", `{"on":"stores/store","name":"t","type":"string","translatable":true}`)
	for body, field := range map[string]string{
		`"cf_n":"1"`: "cf_n", `"cf_n":1.5`: "cf_n", `"cf_d":"2026-02-30"`: "cf_d", `"cf_b":"true"`: "cf_b",
		`"cf_f":"x"`: "cf_f", `"cf_s":5`: "cf_s", `"cf_t":"x"`: "cf_t", `"cf_t":{"english":"x"}`: "cf_t.english",
	} {
		a := h.post("/entities/stores/store", `{"name":"S",`+body+`}`)
		require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", body, a.body)
		require.Equal(t, []string{field}, a.fault(t).fields(), body)
	}

	a = h.form("/entities/stores/store", "id=s&name=S&cf_n=5&cf_d=2026-03-01&cf_b=1&cf_f=0.1&cf_s=5&cf_t[en]=x&cf_u=5")
	require.Equal(t, http.StatusCreated, a.status, a.body)
	require.JSONEq(t, `{"id":"s","name":"S","cf_n":5,"cf_d":"2026-03-01","cf_b":true,"cf_f":0.1,"cf_s":"5","cf_t":{"en":"x"},"cf_u":"5"}`, ownFields(t, data(t, a)))
}

// TestEntityAudit: changes are in the audit trail with what was and is.
func TestEntityAudit(t *testing.T) {
	h := open(t)
	require.Equal(t, http.StatusCreated, h.post("/entities/stores/store", oneStore).status)
	require.Equal(t, http.StatusOK, h.post("/entities/stores/store/s-1", `{"name":"Shop"}`).status)
	entries := h.get("/admin/audit?limit=2").json(t)["data"].([]any)
	last := entries[0].(map[string]any)
	require.Equal(t, "stores/store/s-1", last["target"])
	require.Equal(t, map[string]any{"name": "Store"}, last["before"])
	require.Equal(t, map[string]any{"name": "Shop"}, last["after"])
	require.Equal(t, h.key.KeyID, last["key_id"])
}

// ownFields gives an entity as it was sent: without what the platform adds.
func ownFields(t *testing.T, e map[string]any) string {
	t.Helper()
	fields := maps.Clone(e)
	for _, name := range []string{"module", "entity", "created_at", "updated_at"} {
		require.Contains(t, e, name)
		delete(fields, name)
	}
	text, err := json.Marshal(fields)
	require.NoError(t, err)
	return string(text)
}

// TestConditionsOfTheDocument: what the document shows of conditions can be saved.
func TestConditionsOfTheDocument(t *testing.T) {
	doc := servertest.Documents()["entities"]
	_, shown, _ := strings.Cut(doc.Info.Description, "```\n")
	shown, _, _ = strings.Cut(shown, "```")
	h := open(t)
	n := 0
	for line := range strings.Lines(shown) {
		text, err := json.Marshal(strings.TrimSpace(line))
		require.NoError(t, err)
		h.makes("/entities/automation/campaign", `{"name":"C","trigger":"checkout_item","effects":[{"type":"points","points":1}],"condition":`+string(text)+`}`)
		n++
	}
	require.GreaterOrEqual(t, n, 9)
}
