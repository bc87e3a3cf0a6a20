package server_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// during is the house for one part of a test.
func (h *house) during(t *testing.T) *house {
	own := *h
	own.t = t
	return &own
}

// entries reads a list whole.
func (h *house) entries(target string, headers ...string) []map[string]any {
	h.t.Helper()
	a := h.sees(target, headers...)
	var list []map[string]any
	for _, e := range a.json(h.t)["data"].([]any) {
		list = append(list, e.(map[string]any))
	}
	return list
}

// everyStatus asks a list for what is not active, too.
const everyStatus = "?status.in=active,scheduled,completed"

// ids joins the ids of a list.
func ids(list []map[string]any) string {
	var names []string
	for _, e := range list {
		names = append(names, fmt.Sprint(e["id"]))
	}
	return strings.Join(names, " ")
}

// entryOf finds one entry of a list.
func entryOf(t *testing.T, list []map[string]any, id string) map[string]any {
	t.Helper()
	for _, e := range list {
		if e["id"] == id {
			return e
		}
	}
	require.Fail(t, "no such entry", "%s in %v", id, list)
	return nil
}

// link gives the method and address of a step; empty: there is none.
func link(e map[string]any, name string) string {
	s, ok := e["_actions"].(map[string]any)[name].(map[string]any)
	if !ok {
		return ""
	}
	return fmt.Sprint(s["method"], " ", s["url"])
}

// TestActivityLists reads the lists of what customers may do, before and after they
// did it, and the offers of the programme.
//
// spec: service.api.display
func TestActivityLists(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := playground(t, url)
		for _, part := range []struct {
			name string
			test func(*house, *testing.T)
		}{
			{"quizzes", (*house).quizActivities}, {"contests", (*house).contestActivities}, {"treasures", (*house).treasureActivities},
			{"offers of the programme", (*house).programmeOffers}, {"offers", (*house).offerActivities},
			{"profiling", (*house).profilingActivities}, {"wheels", (*house).prizeWheels}, {"wheel limit", (*house).wheelLimit},
			{"translated attribute", (*house).translatedAttribute}, {"who it is", (*house).activitiesFollowTheCustomer},
		} {
			t.Run(part.name, func(t *testing.T) { part.test(h.during(t), t) })
		}
	})
}

func (h *house) quizActivities(t *testing.T) {
	h.entity("quizzes/quiz", `{"id":"soon","title":{"en":"Soon","hu":"Hamarosan"},"question":{"en":"A secret?"},"answers":[{"id":"x","text":{"en":"Yes"}},{"id":"y","text":{"en":"No"}}],"correct_answer":"y","points":30,"starts_at":"2099-01-01","cf_colour":"blue"}`)
	h.entity("quizzes/quiz", `{"id":"over","title":{"en":"Over"},"question":{"en":"What was it?"},"answers":[{"id":"x","text":{"en":"Yes"}},{"id":"y","text":{"en":"No"}}],"correct_answer":"y","ends_at":"2020-01-01"}`)
	const list = member + "/activities/quizzes"

	before := h.get(list + everyStatus)
	require.NotContains(t, before.body, "correct")
	require.NotContains(t, before.body, "secret")
	require.Equal(t, "origin", ids(h.entries(list)), "what is open now")
	all := h.entries(list + everyStatus)
	require.Equal(t, "soon origin over", ids(all), "by beginning, then id")
	open := entryOf(t, all, "origin")
	require.Equal(t, "active", open["status"])
	require.Equal(t, "10", fmt.Sprint(open["points"]))
	require.NotEmpty(t, open["question"])
	require.Equal(t, "a", open["answers"].([]any)[0].(map[string]any)["id"])
	require.Equal(t, "POST "+list+"/origin/earn", link(open, "answer"))
	soon := entryOf(t, all, "soon")
	require.Equal(t, "scheduled", soon["status"])
	require.Equal(t, "blue", soon["cf_colour"])
	require.NotContains(t, soon, "answers")
	require.Empty(t, link(soon, "answer"))
	require.Equal(t, "completed", entryOf(t, all, "over")["status"])
	require.Empty(t, link(entryOf(t, all, "over"), "answer"))
	require.Equal(t, "Hamarosan", entryOf(t, h.entries(list+everyStatus, "Accept-language", "hu"), "soon")["title"])
	require.Equal(t, open, succeeded(t, h.get(list+"/origin")), "one is shown as in the list")
	refused(t, h.get(list+"/none"), http.StatusNotFound, 190025)
	refused(t, h.get("/customers/nobody/activities/quizzes"), http.StatusNotFound, 160212)

	succeeded(t, h.post(list+"/origin/earn", `{"answer":"b"}`))
	after := succeeded(t, h.get(list+"/origin"))
	result := after["result"].(map[string]any)
	require.Equal(t, "b false a", fmt.Sprint(result["answer"], " ", result["correct"], " ", result["correct_answer"]))
	require.NotEmpty(t, result["answered_at"])
	require.Empty(t, link(after, "answer"))
	require.Equal(t, http.StatusOK, h.post("/entities/quizzes/quiz/over/archive", "").status)
	require.Equal(t, "soon origin", ids(h.entries(list+everyStatus)), "what is archived is gone")
}

func (h *house) contestActivities(t *testing.T) {
	const list = member + "/activities/contests"
	seen := func() map[string]any { return entryOf(t, h.entries(list), "bicycle") }
	require.Equal(t, "20 0 10 10", fmt.Sprint(seen()["points"], " ", seen()["entries"], " ", seen()["max_entries"], " ", seen()["left"]))
	require.Equal(t, "POST "+list+"/bicycle/enter", link(seen(), "enter"))
	succeeded(t, h.post(list+"/bicycle/enter", `{"count":9}`))
	require.Equal(t, "9 1", fmt.Sprint(seen()["entries"], " ", seen()["left"]))
	require.NotEmpty(t, link(seen(), "enter"))
	succeeded(t, h.post(list+"/bicycle/enter", ""))
	require.Equal(t, "10 0", fmt.Sprint(seen()["entries"], " ", seen()["left"]))
	require.Empty(t, link(seen(), "enter"))

	h.entity("contests/contest", `{"id":"free","title":{"en":"Free"},"description":{"en":"For all","fr":"Pour tous"}}`)
	free := entryOf(t, h.entries(list, "Accept-language", "fr"), "free")
	require.Equal(t, "Pour tous", free["description"])
	require.NotContains(t, free, "left")
	require.NotContains(t, free, "max_entries")
}

func (h *house) treasureActivities(t *testing.T) {
	h.entity("treasure-hunt/treasure", `{"id":"footer","title":{"en":"Footer"},"kind":"online"}`)
	h.entity("treasure-hunt/treasure", `{"id":"window","title":{"en":"Window"},"kind":"offline","points":3}`)
	const list = member + "/activities/treasure-hunts"
	require.NotContains(t, h.get(list).body, "BEANS")
	all := h.entries(list)
	require.Equal(t, "counter footer window", ids(all))
	var events []string
	for _, e := range all {
		require.Equal(t, false, e["found"])
		require.Equal(t, "POST /events", link(e, "find"))
		events = append(events, e["event"].(string))
	}

	require.Equal(t, []string{"offline_treasure_code_found", "treasure_found", "offline_treasure_found"}, events)
	h.does("/events", `{"customer":"member-1001","action":"offline_treasure_code_found","data":{"treasure_id":"counter","code":"beans"}}`)
	found := entryOf(t, h.entries(list), "counter")
	require.Equal(t, true, found["found"])
	require.NotEmpty(t, found["found_at"])
	require.Empty(t, link(found, "find"))
	require.NotContains(t, h.get(list).body, "BEANS")
}

func (h *house) offerActivities(t *testing.T) {
	h.entity("segments/segment", `{"id":"nobody","name":"Nobody","condition":"customer.score > 1000000"}`)
	h.entity("offers/offer", `{"id":"theirs","name":{"en":"Theirs"},"type":"cart","discount":{"type":"percent_discount","value":5},"segments":["nobody"]}`)
	h.entity("offers/offer", `{"id":"mine","name":{"en":"Mine"},"type":"combined","required_items":[{"type":"product","id":"p-1"}],"eligible_items":[{"type":"category","id":"Coffee","min_quantity":2}],"discount":{"type":"fixed_price","value":2.5},"segments":["regulars","nobody"],"stores":["budapest-01"]}`)
	const list = member + "/activities/offers"
	all := h.entries(list)
	require.Equal(t, "big-cart mine", ids(all), "what is for others is not listed")
	mine := entryOf(t, all, "mine")
	require.Equal(t, []any{"budapest-01"}, mine["stores"])
	require.Equal(t, "all", mine["required_match"])
	require.Equal(t, "map[id:p-1 min_quantity:1 type:product]", fmt.Sprint(mine["required_items"].([]any)[0]))
	require.NotContains(t, mine, "left")

	big := entryOf(t, all, "big-cart")
	require.Equal(t, "0 3", fmt.Sprint(big["redeemed"], " ", big["left"]))
	require.Equal(t, "POST "+list+"/big-cart/claim", link(big, "claim"))
	succeeded(t, h.post(list+"/big-cart/claim", ""))
	for range 3 {
		h.does("/events", `{"customer":"member-1001","action":"offer_redeem","data":{"offer":"big-cart"}}`)
	}

	big = entryOf(t, h.entries(list), "big-cart")
	require.Equal(t, "3 0", fmt.Sprint(big["redeemed"], " ", big["left"]))
	require.NotEmpty(t, big["claimed_at"])
	require.Empty(t, link(big, "claim"))
	h.enrol("member-1002")
	require.Equal(t, "big-cart", ids(h.entries("/customers/member-1002/activities/offers")), "a newcomer is no regular")
}

func (h *house) profilingActivities(t *testing.T) {
	const list = member + "/activities/profiling"
	flow := func() map[string]any { return entryOf(t, h.entries(list), "taste") }
	require.Equal(t, "2 0 false 20", fmt.Sprint(flow()["questions"], " ", flow()["answered"], " ", flow()["completed"], " ", flow()["points"]))
	answers := map[string]string{"drink": "espresso", "born": "1990-05-17"}
	for _, id := range []string{"drink", "born"} {
		require.Equal(t, "GET "+list+"/taste/next", link(flow(), "next"))
		next := succeeded(t, h.get(list+"/taste/next"))
		question := next["question"].(map[string]any)
		require.Equal(t, id, question["id"])
		require.Equal(t, "POST "+list+"/taste/questions/"+id, link(next, "answer"))
		if id == "drink" {
			require.Equal(t, "espresso", question["answers"].([]any)[0].(map[string]any)["id"])
		} else {
			require.Equal(t, "birth_date", question["field"])
			require.NotContains(t, question, "answers", "any day will do")
		}
		succeeded(t, h.post(strings.TrimPrefix(link(next, "answer"), "POST "), `{"answer":"`+answers[id]+`"}`))
	}

	require.Equal(t, "2 true", fmt.Sprint(flow()["answered"], " ", flow()["completed"]))
	require.Empty(t, link(flow(), "next"))
	last := succeeded(t, h.get(list+"/taste/next"))
	require.Equal(t, true, last["completed"])
	require.NotContains(t, last, "question")
	require.Empty(t, link(last, "answer"))

	h.entity("profiling/flow", `{"id":"soon","title":{"en":"Soon"},"questions":[{"id":"q","field":"gender","text":{"en":"Hidden yet"}}],"starts_at":"2099-01-01"}`)
	soon := h.get(list + "/soon/next")
	require.NotContains(t, soon.body, "Hidden yet")
	require.Equal(t, "scheduled", succeeded(t, soon)["status"])
	refused(t, h.get(list+"/none/next"), http.StatusNotFound, 190025)
}

func (h *house) prizeWheels(t *testing.T) {
	const list = member + "/prize-wheels"
	require.NotContains(t, h.get(list).body, "weight")
	daily := entryOf(t, h.entries(list), "daily")
	require.Equal(t, "map[count:1 period:day] 0 1", fmt.Sprint(daily["limit"], " ", daily["spins"], " ", daily["left"]))
	require.Equal(t, "POST "+list+"/daily", link(daily, "spin"))
	types := map[any]any{}
	for _, o := range daily["options"].([]any) {
		option := o.(map[string]any)
		types[option["type"]] = fmt.Sprint(option["points"], " ", option["reward"])
	}

	require.Equal(t, map[any]any{"points": "5 <nil>", "reward": "<nil> map[id:coffee title:Free coffee]", "empty": "<nil> <nil>"}, types)
	succeeded(t, h.post(list+"/daily", ""))
	daily = succeeded(t, h.get(list+"/daily"))
	require.Equal(t, "1 0", fmt.Sprint(daily["spins"], " ", daily["left"]))
	require.Empty(t, link(daily, "spin"))
	refused(t, h.get(list+"/none"), http.StatusNotFound, 190025)

	// A wheel that has nothing left to give cannot be spun.
	h.entity("rewards/reward", `{"id":"last-mug","title":{"en":"The last mug"},"type":"physical","stock":1}`)
	h.entity("prize-wheels/wheel", `{"id":"mug","name":{"en":"Mug","hu":"Bögre"},"options":[{"type":"reward","label":{"en":"A mug"},"weight":1,"reward":"last-mug"},{"type":"empty","label":{"en":"Never"},"weight":0}]}`)
	require.NotEmpty(t, link(succeeded(t, h.get(list+"/mug")), "spin"))
	succeeded(t, h.post(list+"/mug", ""))
	require.Empty(t, link(succeeded(t, h.get(list+"/mug")), "spin"))
	refused(t, h.post(list+"/mug", ""), http.StatusUnprocessableEntity, 120212)
	require.Equal(t, "Bögre", entryOf(t, h.entries(list, "Accept-language", "hu"), "mug")["name"])
}

// TestActivityFilters tries every filter and order of the lists.
//
// spec: page.limit, page.offset
func TestActivityFilters(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.everyModule()
		h.enrol("member-1001")
		done := `"starts_at":"2020-01-01","ends_at":"2021-01-01T12:00:00Z"`
		for _, c := range []string{
			`{"id":"a","title":{"en":"Zebra"},"points":10}`,
			`{"id":"b","title":{"en":"Yak"},"points":30,"cf_priority":true,` + done + `}`,
			`{"id":"c","title":{"en":"Xerus"},"points":20,"starts_at":"2099-01-01"}`,
		} {
			h.entity("contests/contest", c)
		}

		h.entity("custom-entities/attribute", `{"on":"contests/contest","name":"priority","type":"boolean","tags":["filterable","api"]}`)
		h.entity("stores/store", `{"id":"s1","name":"One"}`)
		for _, o := range []string{
			`{"id":"a","name":{"en":"A"},"type":"cart","weight":1,"discount":{"type":"fixed_price","value":1},"stores":["s1","s2"]}`,
			`{"id":"b","name":{"en":"B"},"type":"item","weight":3,"eligible_items":[{"type":"product","id":"p"}],"discount":{"type":"fixed_price","value":1},` + done + `}`,
			`{"id":"c","name":{"en":"C"},"type":"cart","weight":2,"discount":{"type":"fixed_price","value":1},"stores":["s2"]}`,
		} {
			h.entity("offers/offer", o)
		}

		for _, c := range []struct{ list, query, want string }{
			{"contests", "", "a"},
			{"contests", "status.ne=none", ""},
			{"contests", "status=active", "a"},
			{"contests", "status.in=active,completed", "b a"},
			{"contests", "status.ne=completed", "c a"},
			{"contests", "status=gone", ""},
			{"contests", "points=20", "c"},
			{"contests", "points.gt=10&points.lte=30", "b c"},
			{"contests", "points.nin=10,20", "b"},
			{"contests", "points.gte=many", ""},
			{"contests", "ends_at=2021-01-01", "b"},
			{"contests", "ends_at.lt=2021-01-01", ""},
			{"contests", "ends_at.ne=2021-01-01", "c a"},
			{"contests", "starts_at.gte=2020-01-01", "b c"},
			{"contests", "starts_at.lt=2023-02-30", ""},
			{"contests", "cf_priority=true", "b"},
			{"contests", "sort=title", "c b a"},
			{"contests", "sort=points&order=desc", "b c a"},
			{"contests", "sort=ends_at", "b c a"},
			{"contests", "limit=1&offset=1", "c"},
			{"offers", "", "a c"},
			{"offers", "type=cart", "a c"},
			{"offers", "type.nin=cart", "b"},
			{"offers", "type.ne=basket", ""},
			{"offers", "stores=s1", "b a"},
			{"offers", "stores.in=s1,s2", "b a c"},
			{"offers", "stores=s1,s2", "b a c"},
			{"offers", "stores=s9", "b"},
			{"offers", "stores.nin=s1", "c"},
			{"offers", "sort=weight&order=desc", "b c a"},
			{"offers", "sort=name&status=active", "a c"},
		} {
			query := "?" + c.query
			if c.query != "" && !strings.Contains(c.query, "status") {
				query = everyStatus + "&" + c.query
			}
			require.Equal(t, c.want, ids(h.entries(member+"/activities/"+c.list+query)), "%s %s", c.list, query)
			if c.list == "offers" {
				require.Equal(t, c.want, ids(h.entries("/offers"+query)), "the Offers API: %s", query)
			}
		}

		page := h.get(member + "/activities/contests?limit=1&status.ne=scheduled").json(t)
		require.Equal(t, member+"/activities/contests?status.ne=scheduled&limit=1&offset=1", page["next"])
		require.Nil(t, page["previous"])
		for _, list := range []string{"quizzes", "contests", "treasure-hunts", "offers", "profiling"} {
			refused(t, h.get(member+"/activities/"+list+"?statuss=active"), http.StatusBadRequest, 190069)
			refused(t, h.get(member+"/activities/"+list+"?sort=colour"), http.StatusBadRequest, 190070)
		}

		refused(t, h.get(member+"/activities/offers?cf_priority=true"), http.StatusBadRequest, 190069)
	})
}

// activitiesFollowTheCustomer: a customer is found by an external id, and a
// merged one is shown as the one they became part of.
func (h *house) activitiesFollowTheCustomer(t *testing.T) {
	odd := "member 7/ü&+"
	h.does("/events", `{"customer":"`+odd+`","action":"opt_in","data":{"email":"odd@shop.test"}}`)
	path := "/customers/" + strings.ReplaceAll(url.PathEscape(odd), "+", "%2B")
	h.entity("quizzes/quiz", `{"id":"late","title":{"en":"Late"},"question":{"en":"Q"},"answers":[{"id":"a","text":{"en":"A"}},{"id":"b","text":{"en":"B"}}],"correct_answer":"a"}`)
	quiz := entryOf(t, h.entries(path+"/activities/quizzes"), "late")
	require.Equal(t, "POST "+path+"/activities/quizzes/late/earn", link(quiz, "answer"))
	succeeded(t, h.post(strings.TrimPrefix(link(quiz, "answer"), "POST "), `{"answer":"a"}`))

	succeeded(t, h.post(path+"/merge", `{"target":"member-1001"}`))
	quiz = entryOf(t, h.entries(path+"/activities/quizzes"), "late")
	require.Equal(t, "a", quiz["result"].(map[string]any)["answer"])
	contest := entryOf(t, h.entries(path+"/activities/contests"), "free")
	require.Equal(t, "POST "+member+"/activities/contests/free/enter", link(contest, "enter"))
}

// translatedAttribute: an attribute of the programme's own that is declared
// translatable comes in the language of the answer.
func (h *house) translatedAttribute(t *testing.T) {
	h.entity("custom-entities/attribute", `{"on":"contests/contest","name":"prize","type":"string","translatable":true,"tags":["filterable","api"]}`)
	h.entity("contests/contest", `{"id":"car","title":{"en":"Car"},"cf_prize":{"en":"A red car","hu":"Egy piros autó"},"cf_size":4}`)
	car := entryOf(t, h.entries(member+"/activities/contests", "Accept-language", "hu"), "car")
	require.Equal(t, "Egy piros autó 4", fmt.Sprint(car["cf_prize"], " ", car["cf_size"]))
	require.Equal(t, "car", ids(h.entries(member+"/activities/contests?cf_prize="+url.QueryEscape("A red car"))))
}

// wheelLimit: each spin is one fewer until none is left.
func (h *house) wheelLimit(t *testing.T) {
	h.entity("prize-wheels/wheel", `{"id":"three","name":{"en":"Three"},"limit":{"count":3,"period":"ever"},"options":[{"type":"empty","label":{"en":"Nothing"},"weight":1}],"ends_at":"`+time.Now().AddDate(1, 0, 0).UTC().Format(time.DateOnly)+`"}`)
	for left := 3; left > 0; left-- {
		w := succeeded(t, h.get(member+"/prize-wheels/three"))
		require.Equal(t, fmt.Sprint(left), fmt.Sprint(w["left"]))
		succeeded(t, h.post(strings.TrimPrefix(link(w, "spin"), "POST "), ""))
	}
	require.Empty(t, link(succeeded(t, h.get(member+"/prize-wheels/three")), "spin"))
}
