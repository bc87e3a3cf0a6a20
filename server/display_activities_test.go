package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// entries are those of a list.
func entries(t *testing.T, a answer) []map[string]any {
	t.Helper()
	require.Equal(t, http.StatusOK, a.status, a.body)
	var list []map[string]any
	for _, e := range a.json(t)["data"].([]any) {
		list = append(list, e.(map[string]any))
	}
	return list
}

// entry finds one of a list by its id.
func entry(t *testing.T, a answer, id string) map[string]any {
	t.Helper()
	list := entries(t, a)
	i := slices.IndexFunc(list, func(e map[string]any) bool { return e["id"] == id })
	require.GreaterOrEqual(t, i, 0, "%s is not in %s", id, a.body)
	return list[i]
}

// rewardsOf gives the playground rewards of every kind. The member has 1000 points.
func rewardsOf(t *testing.T, url string) *house {
	t.Helper()
	h := playground(t, url)
	h.entity("segments/segment", `{"id":"rich","name":"Rich","condition":"customer.score >= 1000000"}`)
	h.entity("stores/store", `{"id":"vienna-01","name":"Vienna"}`)
	h.entity("coupons/pool", `{"id":"bare","name":"Bare","source":"uploaded","coupon":{"type":"amount","value":5}}`)
	h.entity("custom-entities/attribute",
		`{"on":"rewards/reward","name":"priority","type":"boolean","tags":["filterable","api"]}`,
		`{"on":"rewards/reward","name":"shelf","type":"string","tags":["filterable","api"],"translatable":true}`,
		`{"on":"rewards/reward","name":"secret","type":"string","tags":["api"]}`)

	h.entity("rewards/reward",
		`{"id":"mug","title":{"en":"Mug","hu":"Bögre"},"type":"physical","points":900,"stores":["vienna-01","budapest-01"],"ends_at":"2999-01-01","cf_shelf":{"en":"Top","hu":"Felső"},"cf_secret":"x"}`,
		`{"id":"soon","title":{"en":"Soon"},"type":"download","points":5,"starts_at":"2999-01-01","ends_at":"2999-02-01"}`,
		`{"id":"over","title":{"en":"Over"},"type":"download","points":6,"ends_at":"2020-01-01"}`,
		`{"id":"rich-only","title":{"en":"For the rich"},"type":"custom","segments":["rich"]}`,
		`{"id":"dear","title":{"en":"A dear one"},"type":"custom","points":5000}`,
		`{"id":"bare","title":{"en":"No code left"},"type":"coupon","points":10,"pool":"bare"}`,
		`{"id":"gone","title":{"en":"Gone"},"type":"physical","points":20,"stock":0}`,
		`{"id":"once","title":{"en":"Once"},"type":"points","award":1,"max_claims":1}`)

	return h
}

const activities = member + "/activities/rewards"

// TestRewards reads one programme in every way there is.
//
// spec: reward.*, endpoint.rewards, filter.rewards.*, operator.eq, operator.gt, operator.gte, operator.in, operator.lt, operator.lte, operator.ne, operator.nin, operator.ranges, operator.custom, endpoint.filters:/customers/{customer_id}/activities/rewards/{reward_id}, endpoint.pages:/customers/{customer_id}/activities/rewards, order.sort, order.order, order.on:/customers/{customer_id}/activities/rewards, page.limit, page.offset, page.links, error.display-filters, list.data, list.next, filter.activities.types, filter.activities.fields, endpoint.filters:/customers/{customer_id}/activities
func TestRewards(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := rewardsOf(t, url)
		for _, read := range []func(*house){(*house).rewardActivities, (*house).rewardCatalogue, (*house).everyActivity, (*house).rewardActivity} {
			read(h)
		}
		h.module("rewards", false)
		for _, path := range []string{activities, activities + "/coffee", "/rewards", "/rewards/coffee", "/rewards/claims/x"} {
			refused(t, h.get(path), http.StatusNotFound, 160600)
		}
		require.NotContains(t, data(t, h.get(member+"/activities")), "rewards")
	})
}

// rewardActivities: the list of a customer, its filters and its order.
func (h *house) rewardActivities() {
	h.t.Helper()
	t := h.t
	for query, want := range map[string]string{
		"":                                "once bare gone coffee mug dear",
		"status=active":                   "once bare gone coffee mug dear",
		"status=scheduled":                "soon",
		"status=completed":                "over",
		"status.in=scheduled,completed":   "soon over",
		"status.ne=active":                "soon over",
		"status=sometime":                 "",
		"type=coupon":                     "bare coffee",
		"type.in=coupon,physical":         "bare gone coffee mug",
		"type.ne=coupon":                  "once gone mug dear",
		"type=coupons":                    "",
		"points=20":                       "gone",
		"points.gte=20&points.lt=900":     "gone coffee",
		"points.in=10,20":                 "bare gone",
		"points.gt=many":                  "",
		"stores=vienna-01":                "once bare gone mug dear",
		"stores=vienna-01,budapest-01":    "once bare gone coffee mug dear",
		"stores.eq=budapest-01":           "once bare gone coffee mug dear",
		"stores.ne=vienna-01,budapest-01": "",
		"stores.nin=vienna-01":            "coffee",
		"stores=nowhere":                  "once bare gone dear",
		"starts_at=2026-01-01":            "coffee",
		"starts_at.lte=2026-01-01":        "coffee",
		"starts_at=2026-02-30":            "",
		"ends_at.gt=2026-01-01":           "mug",
		"ends_at.gt=2026&type=physical":   "",
		"cf_priority=true":                "coffee",
		"cf_priority.ne=true":             "once bare gone mug dear",
		"cf_priority=maybe":               "",
		"cf_shelf=Top":                    "mug",
		"cf_shelf.in=Fels%C5%91,Other":    "mug",
		"sort=points&order=desc":          "dear mug coffee gone bare once",
		"sort=title":                      "dear coffee gone mug bare once",
		"sort=title&order=desc":           "once bare mug gone coffee dear",
		"sort=starts_at":                  "coffee once bare gone mug dear",
		"sort=ends_at&order=desc":         "mug once bare gone coffee dear",
		"limit=2":                         "once bare",
		"limit=2&offset=4":                "mug dear",
		"limit=2&offset=40":               "",
		"limit=1&sort=points&order=desc":  "dear",
	} {
		require.Equal(t, want, h.get(activities+"?"+query).ids(t), query)
	}

	for query, field := range map[string]string{
		"colour=red": "colour", "cf_secret=x": "cf_secret", "sort=stock": "sort", "order=up": "order", "limit=0": "limit", "cursor=x": "cursor",
	} {
		a := h.get(activities + "?" + query)
		require.Equal(t, http.StatusBadRequest, a.status, query)
		require.Equal(t, []string{field}, a.fault(t).fields(), query)
	}

	walked, next := []string{}, activities+"?type.in=coupon,physical&limit=3"
	for next != "" {
		a := h.get(next)
		walked = append(walked, a.ids(t))
		next, _ = a.json(t)["next"].(string)
	}

	require.Equal(t, []string{"bare gone coffee", "mug"}, walked)
	refused(t, h.get("/customers/nobody/activities/rewards"), http.StatusNotFound, 160212)
}

// rewardActivity: one entry as the specification has it, and one by one.
func (h *house) rewardActivity() {
	h.t.Helper()
	t := h.t
	coffee := entry(t, h.get(activities, "Accept-language", "hu"), "coffee")
	require.Equal(t, map[string]any{
		"id": "coffee", "type": "coupon", "status": "active", "title": "Ingyen kávé", "description": "One coffee in any of our shops.",
		"image":     map[string]any{"small": "https://shop.test/coffee-s.png", "medium": "https://shop.test/coffee-l.png", "large": "https://shop.test/coffee-l.png"},
		"starts_at": "2026-01-01T00:00:00.000Z", "stores": []any{"budapest-01"}, "cf_priority": true,
		"_actions": map[string]any{"complete": map[string]any{"method": "POST", "url": activities + "/coffee/claim"}},
	}, only(coffee, "id", "type", "status", "title", "description", "image", "starts_at", "stores", "cf_priority", "_actions"))

	require.Equal(t, "200 1000 0 2 <nil> <nil>", fmt.Sprint(coffee["points"], " ", coffee["in_stock"], " ", coffee["claims"], " ", coffee["claims_left"], " ", coffee["last_claimed_at"], " ", coffee["ends_at"]))

	claim := coffee["_actions"].(map[string]any)["complete"].(map[string]any)["url"].(string)
	claimed := h.form(claim, "").json(t)
	coffee = data(t, h.get(activities+"/coffee"))
	require.Equal(t, "999 1 1", fmt.Sprint(coffee["in_stock"], " ", coffee["claims"], " ", coffee["claims_left"]))
	require.Equal(t, claimed["last_claimed_at"], coffee["last_claimed_at"])

	mug := data(t, h.get(activities+"/mug", "Accept-language", "hu"))
	require.Equal(t, "Bögre Felső x", fmt.Sprint(mug["title"], " ", mug["cf_shelf"], " ", mug["cf_secret"]))
	require.Nil(t, mug["image"])
	require.Nil(t, mug["in_stock"])

	require.Equal(t, "scheduled", data(t, h.get(activities+"/soon"))["status"], "one that is asked for by its id is shown")
	require.Equal(t, "coffee", data(t, h.get(activities+"/coffee?type=coupon&points.lte=200&cf_priority=true"))["id"])
	for _, absent := range []string{"/none", "/rich-only", "/none?type=coupon"} {
		refused(t, h.get(activities+absent), http.StatusNotFound, 160320)
	}

	for _, unmet := range []string{"/coffee?type=download", "/coffee?points.gt=200", "/coffee?points=cheap", "/coffee?cf_priority=false", "/soon?status=active"} {
		a := h.get(activities + unmet)
		require.Equal(t, http.StatusOK, a.status, unmet)
		require.Nil(t, a.json(t)["data"], unmet)
	}

	h.happens("member-1001", "point_add", `{"points":1000000}`)
	require.Equal(t, "rich-only", data(t, h.get(activities+"/rich-only"))["id"], "the segment is told by what the customer has now")
}

// only keeps some of the properties.
func only(e map[string]any, names ...string) map[string]any {
	kept := map[string]any{}
	for _, name := range names {
		kept[name] = e[name]
	}
	return kept
}

// TestActionsKeepTheirWord: a claim does what its entry promised, for customers in
// every state: where the action is there it succeeds, where it is missing it is
// refused with the obstacle that the entry names.
func TestActionsKeepTheirWord(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := rewardsOf(t, url)
		h.happens("member-1002", "subscribe", `{"handler":"m1002"}`)
		for _, id := range []string{"member-1003", "member-1004", "member-1005"} {
			h.enrol(id)
			h.happens(id, "point_add", `{"points":200}`)
		}

		h.happens("member-1003", "suspend", `{}`)
		h.happens("member-1004", "point_sub", `{"points":250}`)
		seen := map[string]bool{}
		promise := func(customer string) {
			of := "/customers/" + customer + "/activities/rewards"
			for range 2 { // what was claimed in the first round has changed what the second one says
				for _, e := range entries(t, h.get(of+"?status.in=active,scheduled,completed")) {
					now := data(t, h.get(of+"/"+e["id"].(string))) // an earlier claim may have spent the points
					complete, promised := now["_actions"].(map[string]any)["complete"].(map[string]any)
					a := h.post(of+"/"+e["id"].(string)+"/claim", "")
					if promised {
						require.Equal(t, of+"/"+e["id"].(string)+"/claim", complete["url"])
						require.Equal(t, http.StatusOK, a.status, "%s of %s: %s", e["id"], customer, a.body)
						require.Nil(t, now["obstacle"])
						seen["200"] = true
						continue
					}

					f := refused(t, a, http.StatusUnprocessableEntity, a.fault(t).Code)
					require.Equal(t, map[string]any{"code": fmt.Sprint(f.Code), "message": f.Message},
						map[string]any{"code": fmt.Sprint(now["obstacle"].(map[string]any)["code"]), "message": now["obstacle"].(map[string]any)["message"]})
					seen[fmt.Sprint(f.Code)] = true
				}
			}
		}

		for _, customer := range []string{"member-1001", "member-1002", "member-1003", "member-1004"} {
			promise(customer)
		}

		h.module("coupons", false)
		promise("member-1005")
		for _, code := range strings.Fields("200 160321 120211 120212 120241 110003 190041 190043") {
			require.True(t, seen[code], "%s was not met: %v", code, seen)
		}
	})
}

// everyActivity: every kind in one answer, each as its own list has it.
func (h *house) everyActivity() {
	h.t.Helper()
	t := h.t
	all := data(t, h.get(member+"/activities"))
	lists := map[string]string{
		"rewards": activities, "challenges": member + "/activities/challenges", "quizzes": member + "/activities/quizzes",
		"contests": member + "/activities/contests", "treasure_hunts": member + "/activities/treasure-hunts",
		"offers": member + "/activities/offers", "profiling": member + "/activities/profiling", "prize_wheels": member + "/prize-wheels",
	}

	require.Len(t, all, len(lists))
	for kind, list := range lists {
		require.Equal(t, h.get(list).json(t)["data"], all[kind], kind)
		require.NotEmpty(t, all[kind], kind)
	}

	for query, kinds := range map[string]string{
		"activity_types=reward,profiling":        "profiling rewards",
		"activity_types=rewards,prize_wheels":    "prize_wheels rewards",
		"activity_types=challenge,treasure_hunt": "challenges treasure_hunts",
		"activity_types=nothing":                 "",
		"activity_types=quiz,nothing":            "quizzes",
	} {
		require.Equal(t, kinds, strings.Join(sorted(data(t, h.get(member+"/activities?"+query))), " "), query)
	}

	chosen := data(t, h.get(member+"/activities?activity_types=reward&fields=title,points,colour"))["rewards"].([]any)
	require.Equal(t, []string{"id", "points", "title"}, sorted(chosen[0].(map[string]any)))
	h.module("contests", false)
	require.NotContains(t, data(t, h.get(member+"/activities")), "contests")
	refused(t, h.get("/customers/nobody/activities"), http.StatusNotFound, 160212)
}
