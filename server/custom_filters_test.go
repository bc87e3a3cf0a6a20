package server_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// ids lists the ids of a list's entries.
func (a answer) ids(t *testing.T) string {
	t.Helper()
	require.Equal(t, http.StatusOK, a.status, a.body)
	var ids []string
	for _, e := range a.json(t)["data"].([]any) {
		ids = append(ids, e.(map[string]any)["id"].(string))
	}
	return strings.Join(ids, " ")
}

// declare declares attributes of a type, all of them filterable and, but for
// booleans, searchable.
func (h *house) declare(on string, types map[string]string) {
	h.t.Helper()
	done(h, "/admin/modules/custom_entities", `{"enabled":true}`)
	for name, kind := range types {
		tags := `"filterable","api","searchable"`
		if kind == "boolean" {
			tags = `"filterable","api"`
		}
		done(h, "/entities/custom-entities/attribute", `{"id":"`+strings.ReplaceAll(on, "/", "-")+"-"+name+`","on":"`+on+`","name":"`+name+`","type":"`+kind+`","tags":[`+tags+`]}`)
	}
}

// TestCustomersByAttributes: attributes that the programme declares filter the
// list and the count of customers, by their types, alike on both databases.
//
// spec: operator.custom
func TestCustomersByAttributes(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.declare("core/customer", map[string]string{"vip": "boolean", "children": "integer", "size": "number", "colour": "string", "joined": "date"})
		done(h, "/entities/custom-entities/attribute", `{"on":"core/customer","name":"secret","type":"string","tags":["filterable"]}`)
		done(h, "/entities/custom-entities/attribute", `{"on":"stores/store","name":"elsewhere","type":"string","tags":["filterable","api"]}`)
		for id, attributes := range map[string]string{
			"member-1001": `"cf_vip":true,"cf_children":2,"cf_size":38.5,"cf_colour":"red","cf_joined":"2026-03-01"`,
			"member-1002": `"cf_vip":false,"cf_children":10,"cf_size":9,"cf_colour":"Zöld","cf_joined":"2026-03-02"`,
			"member-1003": `"cf_vip":false,"cf_colour":"a\"b","cf_note":"cf_vip"`,
			"member-1004": `"first_name":"Sample"`,
		} {
			done(h, "/events", `{"customer":"`+id+`","action":"opt_in","data":{"email":"`+id+`@shop.test",`+attributes+`}}`)
		}

		sorted := func(a answer) string {
			return strings.Join(slices.Sorted(slices.Values(strings.Fields(strings.ReplaceAll(a.ids(t), "member-100", "")))), "")
		}
		for query, want := range map[string]string{
			"": "1234", "cf_vip=false": "23", "cf_vip.eq=true": "1", "cf_vip=1": "1", "cf_vip.ne=false": "14", "cf_vip.in=true,false": "123", "cf_vip.nin=true": "234",
			"cf_vip=perhaps": "",
			"cf_children=2":  "1", "cf_children.gt=2": "2", "cf_children.gte=2": "12", "cf_children.lt=10": "1", "cf_children.in=2,10": "12", "cf_children.ne=2": "234", "cf_children=2.0": "",
			"cf_size=38.50": "1", "cf_size.gt=9": "1", "cf_size.lte=3.85e1": "12", "cf_size=0x9": "", "cf_size.nin=9,38.5": "34",
			"cf_colour=red": "1", "cf_colour=Red": "", "cf_colour=Z%C3%B6ld": "2", "cf_colour.in=red,Z%C3%B6ld": "12",
			"cf_joined=2026-03-01": "1", "cf_joined.gt=2026-03-01": "2", "cf_joined.lte=2026-03-02": "12", "cf_joined.ne=2026-03-01": "234", "cf_joined=2026-02-30": "",
			"cf_vip=false&cf_children.gte=1": "2", "cf_vip=false&score=0": "23", "cf_vip=false&score.gt=0": "",
			"search=2026-03": "12", "search=Z%C3%96L": "2", "search=38": "1", "search=samp": "4", "search=member-1003": "3", "search=red&cf_vip=false": "", "search=cf_vip": "",
		} {
			require.Equal(t, want, sorted(h.get("/customers?"+query)), query)
			require.Equal(t, strconv.Itoa(len(want)), h.get("/customers/-/count?" + query).json(t)["data"].(map[string]any)["count"].(interface{ String() string }).String(), query)
		}

		for _, target := range []string{"/customers", "/customers/-/count"} {
			for _, name := range []string{"cf_secret", "cf_elsewhere", "cf_note", "cf_vip.between", "cf_", "cf_vip.eq.eq", "cf_vip.gt", "cf_colour.lte"} {
				a := h.get(target + "?" + name + "=true")
				require.Equal(t, http.StatusBadRequest, a.status, a.body)
				require.Equal(t, 190069, a.fault(t).Code)
				require.Equal(t, []string{name}, a.fault(t).fields())
			}
			require.Equal(t, http.StatusBadRequest, h.get(target+"?cf_vip=true&cf_vip=true").status)
			longest := strings.Repeat("%C3%A9", 1024)
			require.Equal(t, http.StatusOK, h.get(target+"?cf_colour.ne="+longest).status)
			require.Equal(t, []string{"cf_colour.ne"}, h.get(target+"?cf_colour.ne="+longest+"e").fault(t).fields())
		}

		done(h, "/admin/modules/custom_entities", `{"enabled":false}`)
		require.Equal(t, http.StatusBadRequest, h.get("/customers?cf_vip=true").status)
	})
}

// TestPagesOfCustomersByAttributes walks a filtered list forth and back: links
// carry the filter, and the cursor stays the customers' own. Customers of one
// millisecond stand in the order of their ids, so the whole list says who comes next.
func TestPagesOfCustomersByAttributes(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.declare("core/customer", map[string]string{"even": "boolean"})
		for i := range 9 {
			done(h, "/events", `{"customer":"member-100`+strconv.Itoa(i)+`","action":"opt_in","data":{"email":"m`+strconv.Itoa(i)+`@shop.test","cf_even":`+strconv.FormatBool(i%2 == 0)+`}}`)
		}

		var pages []string
		target := "/customers?cf_even=true&limit=2"
		for target != "" {
			a := h.get(target)
			pages = append(pages, a.ids(t))
			if next, _ := a.json(t)["next"].(string); next != "" {
				target = next
				continue
			}
			target, _ = a.json(t)["previous"].(string)
			break
		}

		var even []string
		for _, id := range strings.Fields(h.get("/customers").ids(t)) {
			if (id[len(id)-1]-'0')%2 == 0 {
				even = append(even, id)
			}
		}

		require.Len(t, even, 5)
		require.Equal(t, []string{even[0] + " " + even[1], even[2] + " " + even[3], even[4]}, pages)
		require.Equal(t, pages[1], h.get(target).ids(t))
		require.Equal(t, even[3]+" "+even[4], h.get("/customers?cf_even=true&limit=2&offset=3").ids(t))
		require.Equal(t, "5", h.get("/customers/-/count?cf_even=true").json(t)["data"].(map[string]any)["count"].(interface{ String() string }).String())
	})
}

// TestDisplayByAttributes: the specification's example, on every list of the
// programme's things that a customer sees.
//
// spec: operator.custom
func TestDisplayByAttributes(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.everyModule()
		h.enrol("member-1001")
		bodies := map[string]string{
			"rewards/reward":       `"title":{"en":"R"},"type":"custom","points":0`,
			"challenges/challenge": `"title":{"en":"C"},"criteria":[{"action":"visit","threshold":5}],"points":5`,
			"quizzes/quiz":         `"title":{"en":"Q"},"question":{"en":"?"},"answers":[{"id":"a","text":{"en":"A"}},{"id":"b","text":{"en":"B"}}],"correct_answer":"a"`,
			"contests/contest":     `"title":{"en":"C"},"points":0`,
			"offers/offer":         `"name":{"en":"O"},"type":"cart","weight":1,"discount":{"type":"fixed_discount","value":3}`,
			"profiling/flow":       `"title":{"en":"F"},"questions":[{"id":"q","field":"cf_drink","text":{"en":"?"}}]`,
			"prize-wheels/wheel":   `"name":{"en":"W"},"options":[{"type":"empty","label":{"en":"No"},"weight":1}]`,
		}

		paths := map[string]string{
			"rewards/reward": "activities/rewards", "challenges/challenge": "activities/challenges", "quizzes/quiz": "activities/quizzes",
			"contests/contest": "activities/contests", "offers/offer": "activities/offers", "profiling/flow": "activities/profiling", "prize-wheels/wheel": "prize-wheels",
		}

		for kind, body := range bodies {
			h.declare(kind, map[string]string{"priority": "boolean", "rank": "integer"})
			done(h, "/entities/"+kind, `{"id":"a","cf_priority":true,"cf_rank":2,`+body+`}`)
			done(h, "/entities/"+kind, `{"id":"b","cf_priority":false,"cf_rank":10,`+body+`}`)
			done(h, "/entities/"+kind, `{"id":"c",`+body+`}`)
			path := "/customers/member-1001/" + paths[kind]
			for query, want := range map[string]string{
				"cf_priority=false": "b", "cf_priority=true": "a", "cf_priority.ne=false": "a c", "cf_rank.gt=2": "b", "cf_rank.in=2,10": "a b", "cf_rank.nin=2": "b c", "cf_priority=maybe": "",
			} {
				require.Equal(t, want, strings.Join(sortedIDs(h.get(path+"?"+query).ids(t)), " "), "%s?%s", path, query)
			}
			a := h.get(path + "?cf_other=1")
			require.Equal(t, http.StatusBadRequest, a.status, "%s: %s", path, a.body)
			require.Equal(t, []string{"cf_other"}, a.fault(t).fields())
		}
	})
}

func sortedIDs(ids string) []string { return slices.Sorted(slices.Values(strings.Fields(ids))) }

// TestManyByAttributes: more entries than are looked into at a time.
func TestManyByAttributes(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.declare("core/customer", map[string]string{"n": "integer"})
		h.declare("products/product", map[string]string{"n": "integer"})
		var events, products []string
		for i := range 2100 {
			n := strconv.Itoa(i)
			events = append(events, `{"customer":"m`+n+`","action":"opt_in","data":{"email":"m`+n+`@shop.test","cf_n":`+n+`}}`)
			products = append(products, `{"method":"create","type":"products/product","id":"p`+n+`","data":{"name":"P","cf_n":`+n+`}}`)
		}

		h.bulk(events...)
		for part := range slices.Chunk(products, 420) {
			require.Len(t, h.post("/entities", `{"entities":[`+strings.Join(part, ",")+`]}`).fates(t), 420)
		}

		count := h.get("/customers/-/count?cf_n.gte=1&cf_n.lt=2099").json(t)["data"].(map[string]any)["count"]
		require.Equal(t, "2098", count.(interface{ String() string }).String())
		for path, letter := range map[string]string{"/customers": "m", "/entities/products/product": "p"} {
			require.ElementsMatch(t, []string{letter + "0", letter + "2099"}, strings.Fields(h.get(path+"?cf_n.in=0,2099").ids(t)), path)
			pages, last := 0, answer{}
			for target := path + "?cf_n.gte=1000&limit=400"; target != ""; pages++ {
				last = h.get(target)
				last.ids(t)
				target, _ = last.json(t)["next"].(string)
			}
			require.Equal(t, 3, pages, path)
			first := h.get(path + "?cf_n.gte=1000&limit=400").ids(t)
			for range 2 {
				last = h.get(last.json(t)["previous"].(string))
			}
			require.Equal(t, first, last.ids(t), path)
		}
	})
}
