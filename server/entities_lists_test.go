package server_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestEntityFilters: filters, search and order of lists of entities, alike on
// both databases.
func TestEntityFilters(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.declare("rewards/reward", map[string]string{"size": "number", "rank": "integer", "until": "date", "note": "string"})
		done(h, "/entities/custom-entities/attribute", `{"on":"rewards/reward","name":"priority","type":"boolean","tags":["filterable","api"]}`)
		done(h, "/entities/custom-entities/attribute", `{"on":"rewards/reward","name":"slogan","type":"string","translatable":true,"tags":["filterable","api","searchable"]}`)
		done(h, "/entities/custom-entities/attribute", `{"on":"rewards/reward","name":"hidden","type":"string","tags":["api"]}`)
		for _, e := range []string{
			`{"id":"a","title":{"en":"Mug","hu":"Agyag bögre"},"type":"custom","cf_priority":true,"cf_rank":2,"cf_size":0.1,"cf_slogan":{"en":"Hot","hu":"Forró"}}`,
			`{"id":"b","title":{"en":"Apron"},"type":"custom","starts_at":"2099-01-01","cf_priority":false,"cf_rank":10,"cf_size":1e2,"cf_until":"2026-03-01"}`,
			`{"id":"c","title":{"en":"Tea"},"type":"custom","ends_at":"2020-01-01","cf_note":"not a MUG","cf_until":"2026-03-02"}`,
			`{"id":"d","title":{"en":"Zest"},"type":"custom","cf_priority":false,"cf_undeclared":5}`,
		} {
			done(h, "/entities/rewards/reward", e)
		}

		require.Equal(t, http.StatusOK, h.post("/entities/rewards/reward/d/archive", "").status)
		done(h, "/entities/rewards/reward/a", `{"points":5}`)
		const path = "/entities/rewards/reward?"
		for query, want := range map[string]string{
			"": "a b c", "archived=true": "a b c d",
			"id=a": "a", "id.in=a,c,z": "a c", "id.nin=a": "b c", "id.ne=b": "a c",
			"title=Mug": "a", "title=Agyag%20b%C3%B6gre": "a", "title=mug": "", "title.nin=Mug,Tea": "b", "name=Mug": "", "name.ne=Mug": "a b c",
			"status=active": "a", "status=scheduled": "b", "status.in=active,completed": "a c", "status=draft": "", "status.ne=active": "b c",
			"status.ne=draft": "a b c", "status.ne=unknown": "", "status.in=active,unknown": "",
			"cf_priority=true": "a", "cf_priority=false": "b", "cf_priority=false&archived=true": "b d", "cf_priority.ne=true": "b c", "cf_priority=no": "",
			"cf_rank.gte=3": "b", "cf_rank.in=2,10": "a b", "cf_rank=two": "", "cf_size=0.10": "a", "cf_size.lt=100": "a", "cf_size=100": "b",
			"cf_until=2026-03-01": "b", "cf_until.gt=2026-03-01": "c", "cf_until.lte=2026-03-02": "b c", "cf_slogan=Forr%C3%B3": "a", "cf_slogan.ne=Hot": "b c",
			"search=mug": "a c", "search=FORR": "a", "search=2026-03-0": "b c", "search=b%C3%96g": "a", "search=zzz": "", "search=%20": "", "search=a": "a b c",
			"created_at.gte=2026-01-01": "a b c", "created_at.lt=2026-01-01": "", "created_at=2026-02-30": "", "updated_at.gt=2000-01-01": "a b c",
			"sort=name": "b a c", "sort=name&order=desc": "c a b", "order=desc": "c b a", "sort=id&order=desc": "c b a", "sort=updated_at": "b c a", "sort=updated_at&order=desc": "a c b",
			"sort=created_at&order=desc&cf_priority.ne=true": "c b", "sort=updated_at&status.ne=scheduled": "c a",
		} {
			require.Equal(t, want, h.get(path+query).ids(t), query)
		}

		require.Equal(t, "a b c", h.get("/entities/rewards/reward?sort=name", "Accept-Language", "hu").ids(t), "Agyag bögre, Apron, Tea")
		for query, field := range map[string]string{
			"cf_hidden=x": "cf_hidden", "cf_undeclared=5": "cf_undeclared", "cf_priority.like=true": "cf_priority.like", "points=5": "points", "id.gt=a": "id.gt",
			"sort=points": "sort", "order=up": "order", "customer=member-1001": "customer", "title=a&title=b": "title",
		} {
			a := h.get(path + query)
			require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", query, a.body)
			require.Equal(t, []string{field}, a.fault(t).fields(), query)
		}

		require.Equal(t, http.StatusBadRequest, h.get("/entities/stores/store?cf_priority=true").status, "declared elsewhere")
	})
}

// TestPagesOfEntities walks lists forth and back by their links: by cursor in the
// order of creation, by offset in any other.
//
// spec: endpoint.pages:/entities/{module}/{entity}, page.links
func TestPagesOfEntities(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.declare("stores/store", map[string]string{"even": "boolean"})
		for i := range 7 {
			done(h, "/entities/stores/store", fmt.Sprintf(`{"id":"s-%d","name":"Shop %d","cf_even":%t}`, i, 9-i, i%2 == 0))
		}

		for query, want := range map[string][]string{
			"limit=3":                       {"s-0 s-1 s-2", "s-3 s-4 s-5", "s-6"},
			"limit=3&order=desc":            {"s-6 s-5 s-4", "s-3 s-2 s-1", "s-0"},
			"limit=3&cf_even=true":          {"s-0 s-2 s-4", "s-6"},
			"limit=1&cf_even=false":         {"s-1", "s-3", "s-5"},
			"limit=3&sort=name":             {"s-6 s-5 s-4", "s-3 s-2 s-1", "s-0"},
			"limit=5&sort=id&order=desc":    {"s-6 s-5 s-4 s-3 s-2", "s-1 s-0"},
			"limit=2&sort=id&cf_even=true":  {"s-0 s-2", "s-4 s-6"},
			"limit=2&offset=1&cf_even=true": {"s-2 s-4", "s-6"},
		} {
			var got []string
			var last answer
			for target := "/entities/stores/store?" + query; target != ""; {
				last = h.get(target)
				got = append(got, last.ids(t))
				target, _ = last.json(t)["next"].(string)
			}
			require.Equal(t, want, got, query)
			for i := len(want) - 2; i >= 0; i-- {
				last = h.get(last.json(t)["previous"].(string))
				require.Equal(t, want[i], last.ids(t), query)
			}
		}

		first := h.get("/entities/stores/store?limit=3").json(t)["next"].(string)
		done(h, "/entities/stores/store", `{"id":"s-7","name":"Late","cf_even":false}`)
		require.Equal(t, http.StatusOK, h.post("/entities/stores/store/s-0/archive", "").status)
		require.Equal(t, "s-3 s-4 s-5", h.get(first).ids(t), "a page stays where it is while others come and go")
	})
}

// TestKindsOfTheProgrammesOwn: a kind is there once an attribute is declared on it,
// and stays; its entities have what is declared.
func TestKindsOfTheProgrammesOwn(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		missing := h.get("/entities/custom/machine")
		require.Equal(t, 190024, missing.fault(t).Code, missing.body)
		h.declare("custom/machine", map[string]string{"capacity": "integer", "label": "string"})
		done(h, "/entities/custom/machine", `{"id":"m-1","name":"One","cf_capacity":12,"cf_label":"blue","cf_free":{"a":[1.50]}}`)
		done(h, "/entities/custom/machine", `{"id":"m-2","cf_capacity":3}`)
		require.Equal(t, "m-1", h.get("/entities/custom/machine?cf_capacity.gt=5").ids(t))
		require.Equal(t, "m-1", h.get("/entities/custom/machine?search=BLU").ids(t))
		for body, field := range map[string]string{
			`{"cf_capacity":"12"}`: "cf_capacity", `{"cf_label":1}`: "cf_label", `{"colour":"red"}`: "colour", `{"name":""}`: "name", `{"id":"-"}`: "id",
		} {
			a := h.post("/entities/custom/machine", body)
			require.Equal(t, http.StatusBadRequest, a.status, a.body)
			require.Equal(t, []string{field}, a.fault(t).fields(), body)
		}

		a := h.form("/entities/custom/machine/m-2", "cf_capacity=4&name=Two")
		require.Equal(t, http.StatusOK, a.status, a.body)
		require.Contains(t, a.body, `"cf_capacity":4`)
		for _, name := range []string{"capacity", "label"} {
			require.Equal(t, http.StatusOK, h.post("/entities/custom-entities/attribute/custom-machine-"+name+"/archive", "").status)
		}

		require.Contains(t, h.get("/entities/custom/machine/m-1").body, `"cf_capacity":12`, "values stay")
		require.Equal(t, http.StatusBadRequest, h.get("/entities/custom/machine?cf_capacity=12").status)
		done(h, "/entities/custom/machine/m-1", `{"cf_capacity":"twelve"}`)
		done(h, "/admin/modules/custom_entities", `{"enabled":false}`)
		require.Equal(t, 160600, h.get("/entities/custom/machine/m-1").fault(t).Code)
	})
}

// TestDeclarations: what cannot be declared is refused and named.
func TestDeclarations(t *testing.T) {
	h := open(t)
	done(h, "/admin/modules/custom_entities", `{"enabled":true}`)
	for body, field := range map[string]string{
		`{"on":"rewards/prize","name":"a","type":"string"}`:                                 "on",
		`{"on":"custom/","name":"a","type":"string"}`:                                       "on",
		`{"on":"custom/Machine","name":"a","type":"string"}`:                                "on",
		`{"on":"custom/a/b","name":"a","type":"string"}`:                                    "on",
		`{"on":"core/transaction","name":"a","type":"string"}`:                              "on",
		`{"on":"rewards/reward","name":"cf a","type":"string"}`:                             "name",
		`{"on":"rewards/reward","name":"a","type":"text"}`:                                  "type",
		`{"on":"rewards/reward","name":"a","type":"string","tags":["filterable","hidden"]}`: "tags[1]",
		`{"on":"rewards/reward","name":"a","type":"string","tags":["api","api"]}`:           "tags",
		`{"on":"rewards/reward","name":"a","type":"boolean","tags":["searchable"]}`:         "tags",
		`{"on":"rewards/reward","name":"a","type":"integer","translatable":true}`:           "translatable",
		`{"on":"core/customer","name":"a","type":"string","translatable":true}`:             "translatable",
	} {
		a := h.post("/entities/custom-entities/attribute", body)
		require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", body, a.body)
		require.Equal(t, []string{field}, a.fault(t).fields(), "%s: %s", body, a.body)
	}

	done(h, "/entities/custom-entities/attribute", `{"id":"a","on":"rewards/reward","name":"a","type":"string"}`)
	for body, field := range map[string]string{`{"on":"stores/store"}`: "on", `{"name":"b"}`: "name"} {
		a := h.post("/entities/custom-entities/attribute/a", body)
		require.Equal(t, http.StatusUnprocessableEntity, a.status, a.body)
		require.Equal(t, 190251, a.fault(t).Code)
		require.Equal(t, []string{field}, a.fault(t).fields())
	}

	done(h, "/entities/custom-entities/attribute/a", `{"on":"rewards/reward","type":"integer","tags":["filterable","api"]}`)
	done(h, "/entities/rewards/reward", `{"id":"r","title":{"en":"R"},"type":"custom","cf_a":5}`)
	require.Equal(t, "r", h.get("/entities/rewards/reward?cf_a=5").ids(t))
	require.Equal(t, http.StatusOK, h.post("/entities/custom-entities/attribute/a/archive", "").status)
	done(h, "/entities/custom-entities/attribute", `{"on":"rewards/reward","name":"a","type":"boolean","tags":["filterable","api"]}`)
	require.Empty(t, h.get("/entities/rewards/reward?cf_a=true").ids(t), "a value from another declaration is as if it were not there")
	require.Equal(t, "r", h.get("/entities/rewards/reward?cf_a.ne=true").ids(t))
}
