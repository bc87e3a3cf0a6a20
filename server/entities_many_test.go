package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/servertest"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// fates words the results of many changes: the id, or the code and field of the
// error.
func (a answer) fates(t *testing.T) []string {
	t.Helper()
	require.Equal(t, http.StatusOK, a.status, a.body)
	var body struct {
		Results []struct {
			ID    string
			Error *fault
		}
		Total, Errors int
	}

	require.NoError(t, json.Unmarshal([]byte(a.body), &body))
	fates, failed := []string{}, 0
	for _, r := range body.Results {
		if r.Error == nil {
			fates = append(fates, r.ID)
			continue
		}
		failed++
		require.Empty(t, r.ID)
		require.NotEmpty(t, r.Error.Message)
		fates = append(fates, fmt.Sprint(r.Error.Code, " ", strings.Join(r.Error.fields(), " ")))
	}

	require.Equal(t, []int{len(fates), failed}, []int{body.Total, body.Errors})
	return fates
}

// aProgramme are changes of which each needs those before it.
const aProgramme = `[
	{"method":"create","type":"custom-entities/attribute","id":"capacity","data":{"on":"custom/machine","name":"capacity","type":"integer","tags":["filterable","api"]}},
	{"method":"create","type":"custom/machine","id":"m-1","data":{"cf_capacity":12}},
	{"method":"create","type":"coupons/pool","id":"pool","data":{"name":"Pool","source":"uploaded","coupon":{"type":"percentage","value":10}}},
	{"method":"create","type":"rewards/reward","id":"mug","data":{"title":{"en":"Mug"},"type":"coupon","pool":"pool","points":5}},
	{"method":"create","type":"prize-wheels/wheel","id":"wheel","data":{"name":{"en":"Wheel"},"options":[{"type":"reward","label":{"en":"Mug"},"weight":1,"reward":"mug"}]}},
	{"method":"update","type":"rewards/reward","id":"mug","data":{"points":7,"stock":3}},
	{"method":"update","type":"rewards/reward","id":"mug","data":{"stock":null}},
	{"method":"create","type":"stores/store","id":"s-1","data":{"name":"Shop"}},
	{"method":"archive","type":"stores/store","id":"s-1"}
]`

// TestManyEntities: changes of one call build on each other, in one transaction.
func TestManyEntities(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.everyModule()
		body := `{"error_handling":"fail","entities":` + aProgramme + `}`
		first := h.post("/entities", body, "Idempotency-Key", "build")
		require.Equal(t, []string{"capacity", "m-1", "pool", "mug", "wheel", "mug", "mug", "s-1", "s-1"}, first.fates(t))
		again := h.post("/entities", body, "Idempotency-Key", "build")
		require.Equal(t, first.body, again.body)
		require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
		mug := data(t, h.get("/entities/rewards/reward/mug"))
		require.Equal(t, "7", fmt.Sprint(mug["points"]))
		require.NotContains(t, mug, "stock")
		require.Equal(t, "m-1", h.get("/entities/custom/machine?cf_capacity=12").ids(t))
		require.Empty(t, h.get("/entities/stores/store").ids(t))
		require.Equal(t, 3, strings.Count(h.get("/admin/audit?limit=20").body, `"target":"rewards/reward/mug"`), "each change has its own entry")

		a := h.post("/entities", `{"entities":[{"method":"create","type":"stores/store","data":{"name":"A"}},{"method":"create","type":"stores/store","data":{"name":"B"}}]}`)
		require.Len(t, a.fates(t), 2)
		require.Len(t, h.get("/entities/stores/store").json(t)["data"], 2, "ids were chosen")
	})
}

// TestManyEntitiesFail: without skip the first refusal undoes everything, and its
// error is the answer.
func TestManyEntitiesFail(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.everyModule()
		done(h, "/entities/stores/store", `{"id":"taken","name":"Taken"}`)
		done(h, "/admin/modules/contests", `{"enabled":false}`)
		for change, want := range map[string]struct {
			status, code int
			field        string
		}{
			`{"method":"create","type":"rewards/reward","data":{"title":{"en":""},"type":"custom"}}`:                 {400, 190010, "entities[1].data.title.en"},
			`{"method":"create","type":"rewards/reward","data":{"type":"custom"}}`:                                   {400, 0, "entities[1].data.title"},
			`{"method":"create","type":"rewards/reward","data":{"title":{"en":"M"},"type":"coupon","pool":"none"}}`:  {400, 190010, "entities[1].data.pool"},
			`{"method":"create","type":"stores/store","data":{"name":"x","id":"y"}}`:                                 {400, 190011, "entities[1].data.id"},
			`{"method":"create","type":"stores/store"}`:                                                              {400, 0, "entities[1].data.name"},
			`{"method":"create","type":"stores/store","id":"-","data":{"name":"x"}}`:                                 {400, 190014, "entities[1].id"},
			`{"method":"create","type":"stores/store","id":"taken","data":{"name":"x"}}`:                             {409, 190034, "entities[1].id"},
			`{"method":"update","type":"stores/store","data":{"name":"x"}}`:                                          {400, 0, "entities[1].id"},
			`{"method":"update","type":"stores/store","id":"none","data":{"name":"x"}}`:                              {404, 190025, "entities[1].id"},
			`{"method":"update","type":"stores/store","id":"taken","data":{"label":null}}`:                           {400, 190011, "entities[1].data.label"},
			`{"method":"update","type":"stores/store","id":"taken","data":{"name":null}}`:                            {400, 0, "entities[1].data.name"},
			`{"method":"archive","type":"stores/store","id":"none"}`:                                                 {404, 190025, "entities[1].id"},
			`{"method":"archive","type":"stores/store","id":"taken","data":{"name":"x"}}`:                            {400, 190010, "entities[1].data"},
			`{"method":"archive","type":"custom/nothing","id":"none"}`:                                               {404, 190024, "entities[1].type"},
			`{"method":"create","type":"contests/contest","data":{}}`:                                                {404, 160600, "entities[1].type"},
			`{"method":"update","type":"core/customer","id":"member-1001","data":{"first_name":"x"}}`:                {422, 190250, "entities[1].type"},
			`{"method":"create","type":"core/transaction","data":{}}`:                                                {422, 190250, "entities[1].type"},
			`{"method":"create","type":"custom-events/action","data":{"name":"tier_up","schema":{"type":"object"}}}`: {400, 190010, "entities[1].data.name"},
			`{"method":"replace","type":"stores/store"}`:                                                             {400, 190010, "entities[1].method"},
			`{"type":"stores/store"}`:                                   {400, 0, "entities[1].method"},
			`{"method":"create","type":"stores/store","body":{}}`:       {400, 190011, "entities[1].body"},
			`{"method":"create","type":"stores/store","data":[]}`:       {400, 190010, "entities[1].data"},
			`{"method":"create","type":"stores/store","data":"name=x"}`: {400, 190010, "entities[1].data"},
		} {
			a := h.post("/entities", `{"entities":[{"method":"create","type":"stores/store","id":"before","data":{"name":"x"}},`+change+`]}`)
			require.Equal(t, want.status, a.status, "%s: %s", change, a.body)
			require.Equal(t, want.code, a.fault(t).Code, change)
			require.Equal(t, []string{want.field}, a.fault(t).fields(), change)
		}

		require.Equal(t, "taken", h.get("/entities/stores/store").ids(t), "nothing was made")
		for body, field := range map[string]string{
			`{}`: "entities", `{"entities":[]}`: "entities", `{"entities":{}}`: "entities", `{"entities":[{}],"error_handling":"stop"}`: "entities[0].method", `{"entities":[1]}`: "entities[0]",
		} {
			a := h.post("/entities", body)
			require.Equal(t, http.StatusBadRequest, a.status, a.body)
			require.Equal(t, field, a.fault(t).fields()[0], body)
		}
	})
}

// TestManyEntitiesSkip: with skip what is refused is left out, and what needs it.
func TestManyEntitiesSkip(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		body := `{"error_handling":"skip","entities":[
			{"method":"create","type":"tiers/structure","id":"club","data":{"name":"Club","base":"point"}},
			{"method":"create","type":"tiers/tier","id":"gold","data":{"structure":"club","name":{"en":"Gold"},"threshold":100}},
			{"method":"create","type":"tiers/structure","id":"club","data":{"name":"Club","base":"points","downgrade":"automatic"}},
			{"method":"create","type":"tiers/tier","id":"silver","data":{"structure":"club","name":{"en":"Silver"},"threshold":50}},
			{"method":"archive","type":"tiers/structure","id":"club"},
			{"method":"update","type":"tiers/tier","id":"silver","data":{"threshold":60}},
			{"method":"archive","type":"tiers/tier","id":"silver"},
			{"method":"update","type":"tiers/tier","id":"silver","data":{"threshold":70}},
			{"method":"archive","type":"tiers/structure","id":"club"},
			{"method":"create","type":"stores/shop","data":{}}
		]}`

		want := []string{
			"190010 entities[0].data.base", "190010 entities[1].data.structure", "club", "silver", "190053 entities[4].id", "silver", "silver",
			"190054 entities[7].id", "club", "190024 entities[9].type",
		}

		a := h.post("/entities", body, "Idempotency-Key", "skip")
		require.Equal(t, want, a.fates(t))
		require.Equal(t, a.body, h.post("/entities", body, "Idempotency-Key", "skip").body)
		require.Equal(t, "60", fmt.Sprint(data(t, h.get("/entities/tiers/tier/silver"))["threshold"]))
		require.Equal(t, http.StatusNotFound, h.get("/entities/tiers/tier/gold").status)
	})
}

// TestManyChangesOfDeclarations: each change is read by what is declared when its
// turn comes, also behind one that was refused.
func TestManyChangesOfDeclarations(t *testing.T) {
	h := open(t, patient)
	done(h, "/admin/modules/custom_entities", `{"enabled":true}`)
	done(h, "/entities/rewards/reward", `{"id":"old","title":{"en":"Old"},"type":"custom"}`)
	const mug = `"title":{"en":"Mug"},"type":"custom"`
	a := h.post("/entities", `{"error_handling":"skip","entities":[
		{"method":"update","type":"rewards/reward","id":"old","data":{"points":5}},
		{"method":"create","type":"custom-entities/attribute","id":"size","data":{"on":"rewards/reward","name":"size","type":"integer"}},
		{"method":"create","type":"custom-entities/attribute","data":{"on":"rewards/reward","name":"size","type":"integer"}},
		{"method":"create","type":"custom-entities/attribute","id":"watts","data":{"on":"custom/machine","name":"watts","type":"integer"}},
		{"method":"create","type":"rewards/reward","id":"bad","data":{`+mug+`,"ends_at":"2020-01-01","starts_at":"2021-01-01"}},
		{"method":"create","type":"custom/machine","id":"m","data":{"cf_watts":"many"}},
		{"method":"create","type":"custom/machine","id":"m","data":{"cf_watts":900}},
		{"method":"create","type":"rewards/reward","id":"mug","data":{`+mug+`,"cf_size":"large"}},
		{"method":"update","type":"custom-entities/attribute","id":"size","data":{"type":"string"}},
		{"method":"create","type":"rewards/reward","id":"mug","data":{`+mug+`,"cf_size":"large"}},
		{"method":"create","type":"rewards/reward","id":"cup","data":{`+mug+`,"cf_size":5}},
		{"method":"archive","type":"custom-entities/attribute","id":"size"},
		{"method":"create","type":"rewards/reward","id":"cup","data":{`+mug+`,"cf_size":5}},
		{"method":"create","type":"rewards/reward","id":"cup","data":{`+mug+`}}
	]}`)

	require.Equal(t, []string{
		"old", "size", "190341 entities[2].data.name", "watts", "190010 entities[4].data.ends_at", "190010 entities[5].data.cf_watts", "m",
		"190010 entities[7].data.cf_size", "size", "mug", "190010 entities[10].data.cf_size", "size", "cup", "190034 entities[13].id",
	}, a.fates(t))

	require.Equal(t, "old cup mug", h.get("/entities/rewards/reward").ids(t), "entities of one call have one time")
	require.Equal(t, "5", fmt.Sprint(data(t, h.get("/entities/rewards/reward/old"))["points"]))

	pools := `{"error_handling":"fail","entities":[
		{"method":"create","type":"coupons/pool","id":"pool","data":{"name":"Pool","source":"uploaded","coupon":{"type":"percentage","value":10}}},
		{"method":"create","type":"rewards/reward","id":"beans","data":{"title":{"en":"Beans"},"type":"coupon","pool":"pool"}},
		{"method":"update","type":"rewards/reward","id":"old","data":{"points":9}},
		{"method":"archive","type":"coupons/pool","id":"pool"}
	]}`

	a = h.post("/entities", pools)
	require.Equal(t, http.StatusUnprocessableEntity, a.status, a.body)
	require.Equal(t, []string{"entities[3].id"}, a.fault(t).fields())
	require.Contains(t, a.body, "rewards/reward beans")
	require.Equal(t, "5", fmt.Sprint(data(t, h.get("/entities/rewards/reward/old"))["points"]), "nothing was changed")
	require.Equal(t, http.StatusNotFound, h.get("/entities/coupons/pool/pool").status)
}

// TestManyEntitiesAsForm: the values of a form are read by the type of each.
func TestManyEntitiesAsForm(t *testing.T) {
	h := open(t)
	form := "entities[0][method]=create&entities[0][type]=rewards/reward&entities[0][id]=mug&entities[0][data][title][en]=Mug&entities[0][data][type]=custom&entities[0][data][points]=5" +
		"&entities[1][method]=update&entities[1][type]=rewards/reward&entities[1][id]=mug&entities[1][data][stock]=2&entities[1][data][points]="
	require.Equal(t, []string{"mug", "mug"}, h.form("/entities", form).fates(t))
	require.JSONEq(t, `{"id":"mug","title":{"en":"Mug"},"type":"custom","stock":2,"status":"active"}`, ownFields(t, data(t, h.get("/entities/rewards/reward/mug"))))
	a := h.form("/entities", "entities[0][method]=create&entities[0][type]=rewards/reward&entities[0][data][title][en]=Mug&entities[0][data][type]=custom&entities[0][data][points]=many")
	require.Equal(t, []string{"entities[0].data.points"}, a.fault(t).fields())
	const archiving = "entities[0][method]=archive&entities[0][type]=rewards/reward&entities[0][id]=mug"
	require.Equal(t, []string{"entities[0].data"}, h.form("/entities", archiving+"&entities[0][data][points]=").fault(t).fields())
	require.Equal(t, []string{"mug"}, h.form("/entities", archiving).fates(t))
}

// TestExamplesOfManyEntities: the examples of the document work, as JSON and as a
// form.
func TestExamplesOfManyEntities(t *testing.T) {
	doc := servertest.Documents()["entities"]
	examples := doc.Paths.Value("/entities").Post.RequestBody.Value.Content.Get("application/json").Examples
	require.Len(t, examples, 2)

	for name, refused := range map[string]string{"programme": "", "import": "190025 entities[1].id"} {
		text, err := json.Marshal(examples[name].Value.Value)
		require.NoError(t, err)
		for _, send := range []func(h *house) answer{
			func(h *house) answer { return h.post("/entities", string(text)) },
			func(h *house) answer { return h.form("/entities", formOf(t, string(text))) },
		} {
			fates := send(open(t)).fates(t)
			require.Len(t, fates, 3)
			for _, fate := range fates {
				require.True(t, !strings.Contains(fate, " ") || fate == refused, "%s: %s", name, fate)
			}
		}
	}
}

// TestEntitiesOfTheCore: customers are read, listed and changed as entities, and
// purchases read; neither is made here.
func TestEntitiesOfTheCore(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		h := openOn(t, address, patient)
		h.declare("core/customer", map[string]string{"vip": "boolean"})
		h.enrol("member-1001")
		h.enrol("member-1002")
		done(h, "/events", `{"customer":"member-1001","action":"point_add","data":{"points":50}}`)
		done(h, "/events", `{"customer":"member-1001","action":"checkout","data":{"transaction_id":"T-1","total":10}}`)
		done(h, "/events", `{"customer":"member-1001","action":"checkout","data":{"transaction_id":"T-2","total":20}}`)
		const path = "/entities/core/customer"

		sent := `{"first_name":"Sample","language":"hun","labels":["vip"],"external_ids":{"till":"000418"},"cf_vip":true,"birth_date":"1990-05-17"}`
		a := h.does(path+"/member-1001", sent, "Idempotency-Key", "p")
		c := data(t, a)
		require.Equal(t, []any{"core", "customer", "member-1001", "Sample", true}, []any{c["module"], c["entity"], c["id"], c["first_name"], c["cf_vip"]})
		require.Equal(t, a.body, h.post(path+"/member-1001", sent, "Idempotency-Key", "p").body)
		require.Equal(t, c, data(t, h.get(path+"/member-1001")))
		require.Equal(t, c, data(t, h.get(path+"/till:000418")))
		shown := data(t, h.get("/customers/member-1001"))
		for name, value := range shown {
			require.Equal(t, value, c[name], name)
		}

		require.Contains(t, h.get("/customers/member-1001/events?action=profile").body, `"profile"`, "the journal has it")

		a = h.does(path+"/member-1001", `{"first_name":null,"birth_date":null,"email":null,"labels":null,"cf_vip":null,"external_ids":{"till":null}}`)
		c = data(t, a)
		for _, gone := range []string{"first_name", "birth_date", "email", "cf_vip"} {
			require.NotContains(t, c, gone)
		}

		require.Empty(t, c["labels"])
		require.Empty(t, c["external_ids"])
		require.Len(t, data(t, h.post(path+"/member-1001", `{"external_ids":{"till":"1","crm":"2"}}`))["external_ids"], 2)
		require.Empty(t, data(t, h.post(path+"/member-1001", `{"external_ids":null}`))["external_ids"])
		require.Equal(t, "hun", c["language"])
		c = data(t, h.form(path+"/member-1001", "cf_vip=false&last_name=Member&labels[]=a&labels[]=b&language="))
		require.Equal(t, []any{false, "Member", []any{"a", "b"}}, []any{c["cf_vip"], c["last_name"], c["labels"]})
		require.NotContains(t, c, "language")

		for body, field := range map[string]string{
			`{"score":5}`: "score", `{"spendable":5}`: "spendable", `{"points":5}`: "points", `{"status":"suspended"}`: "status", `{"id":"x"}`: "id", `{"opt_in":true}`: "opt_in",
			`{"effective_timestamp":"2026-01-01T00:00:00Z"}`: "effective_timestamp", `{"email":"no"}`: "email", `{"birth_date":"2026-02-30"}`: "birth_date",
			`{"labels":"a"}`: "labels", `{"cf_vip":"yes"}`: "cf_vip", `{"external_ids":{"a:b":"1"}}`: "external_ids.a:b", `{"Email":"a@shop.test"}`: "Email",
		} {
			a := h.post(path+"/member-1001", body)
			require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", body, a.body)
			require.Equal(t, []string{field}, a.fault(t).fields(), body)
		}

		require.Equal(t, http.StatusNotFound, h.post(path+"/nobody", `{"first_name":"x"}`).status)
		require.Equal(t, http.StatusNotFound, h.get(path+"/nobody").status)
		require.Equal(t, "0", fmt.Sprint(data(t, h.get(path+"/member-1002"))["score"]))

		require.Equal(t, "member-1001 member-1002", h.get(path).ids(t))
		require.Equal(t, "member-1001", h.get(path+"?cf_vip=false").ids(t))
		require.Equal(t, "member-1002", h.get(path+"?search=member-1002").ids(t))
		require.Equal(t, "member-1001 member-1002", h.get(path+"?status=active&created_at.gte=2026-01-01").ids(t))
		next := h.get(path + "?limit=1").json(t)["next"].(string)
		require.Equal(t, "member-1002", h.get(next).ids(t))

		const purchases = "/entities/core/transaction"
		purchase := data(t, h.get(purchases+"/T-1"))
		require.Equal(t, []any{"core", "transaction", "T-1", "member-1001"}, []any{purchase["module"], purchase["entity"], purchase["id"], purchase["customer"]})
		require.Equal(t, "T-2 T-1", h.get(purchases+"?customer=member-1001").ids(t))
		require.Equal(t, "T-1", h.get(purchases+"?customer=member-1001&id=T-1").ids(t))
		require.Empty(t, h.get(purchases+"?customer=member-1001&status=refunded").ids(t))
		require.Empty(t, h.get(purchases+"?customer=member-1001&created_at.lt=2026-01-01").ids(t))
		require.Empty(t, h.get(purchases+"?customer=member-1002").ids(t))
		require.Equal(t, "T-1", h.get(h.get(purchases + "?customer=member-1001&limit=1").json(t)["next"].(string)).ids(t))
		require.Equal(t, http.StatusNotFound, h.get(purchases+"/T-9").status)
		require.Equal(t, http.StatusNotFound, h.get(purchases+"?customer=nobody").status)

		for query, field := range map[string]string{
			path + "?id=member-1001": "id", path + "?name=x": "name", path + "?updated_at.gt=2026-01-01": "updated_at.gt", path + "?sort=id": "sort", path + "?customer=member-1001": "customer",
			path + "?archived=true": "archived", purchases: "customer", purchases + "?customer=member-1001&search=x": "search", purchases + "?customer=member-1001&order=asc": "order",
			purchases + "?customer=member-1001&cf_vip=true": "cf_vip",
		} {
			a := h.get(query)
			require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", query, a.body)
			require.Equal(t, []string{field}, a.fault(t).fields(), query)
		}

		for _, target := range []string{path, path + "/member-1001/archive", purchases, purchases + "/T-1", purchases + "/T-1/archive"} {
			a := h.post(target, `{}`)
			require.Equal(t, http.StatusUnprocessableEntity, a.status, "%s: %s", target, a.body)
			require.Equal(t, 190250, a.fault(t).Code)
		}

		require.Equal(t, http.StatusOK, h.post("/customers/member-1001/merge", `{"target":"member-1002"}`).status)
		require.Equal(t, "member-1002", data(t, h.get(purchases+"/T-1"))["customer"])
		require.Equal(t, "T-2 T-1", h.get(purchases+"?customer="+url.QueryEscape("member-1002")).ids(t))
		done(h, "/events", `{"customer":"member-1002","action":"opt_out","data":{}}`)
		require.NotContains(t, data(t, h.get(purchases+"/T-1")), "customer")
	})
}
