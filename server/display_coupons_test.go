package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

func TestListCustomerCoupons(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		today, _ := days(t)
		h := wallet(t, url)
		const list = member + "/coupons"
		for query, want := range map[string]string{
			"":                                    "A10 BAD GIFT OLD S-1 SHIP",
			"code=S-1":                            "S-1",
			"code=THEIRS":                         "",
			"code.in=S-1,THEIRS,G-1":              "S-1",
			"code.ne=S-1":                         "A10 BAD GIFT OLD SHIP",
			"code.nin=S-1,A10":                    "BAD GIFT OLD SHIP",
			"status=claimed":                      "S-1 SHIP",
			"status.eq=expired":                   "OLD",
			"status.ne=expired":                   "A10 BAD GIFT S-1 SHIP",
			"status.in=redeemed,invalidated":      "A10 BAD",
			"status.nin=redeemed,invalidated":     "GIFT OLD S-1 SHIP",
			"type=gift_card":                      "GIFT",
			"type.ne=amount":                      "GIFT SHIP",
			"type.in=amount,gift_card":            "A10 BAD GIFT OLD S-1",
			"type.nin=amount,gift_card":           "SHIP",
			"type=cash":                           "",
			"pool=spring":                         "S-1",
			"pool.ne=spring":                      "A10 BAD GIFT OLD SHIP",
			"pool.in=spring,auto":                 "S-1",
			"pool.nin=spring,auto":                "A10 BAD GIFT OLD SHIP",
			"reward=five":                         "S-1",
			"reward.ne=five":                      "A10 BAD GIFT OLD SHIP",
			"reward.in=five,six":                  "S-1",
			"reward.nin=five":                     "A10 BAD GIFT OLD SHIP",
			"created_at=" + today:                 "A10 BAD GIFT OLD S-1 SHIP",
			"created_at.lt=" + today:              "",
			"claimed_at.gte=" + today:             "A10 BAD GIFT OLD S-1 SHIP",
			"claimed_at.nin=2020-01-01":           "A10 BAD GIFT OLD S-1 SHIP",
			"redeemed_at=" + today:                "A10 GIFT",
			"redeemed_at.ne=" + today:             "BAD OLD S-1 SHIP",
			"redeemed_at.lte=" + today:            "A10 GIFT",
			"redeemed_at.in=2020-01-01":           "",
			"expires_at.lt=" + today:              "OLD",
			"expires_at=2126-06-30":               "A10",
			"expires_at.gt=2126-06-30":            "",
			"expires_at.gte=2020-01-02":           "A10",
			"expires_at.nin=2126-06-30":           "BAD GIFT OLD S-1 SHIP",
			"expires_at.in=2126-06-30,2020-01-01": "A10 OLD",
			"expires_at=2023-02-30":               "",
		} {
			require.Equal(t, want, sortedOf(t, h.get(list+"?"+query), "code"), query)
		}

		require.Equal(t, column(t, h.get(list), "code"), h.walkBoth(list+"?limit=2", "code"))

		// The code is old, but the member has it as the last one.
		h.does(member+"/activities/rewards/five/claim", "")
		first := h.get(list + "?limit=1").json(t)["data"].([]any)[0].(map[string]any)
		require.Equal(t, "S-2 claimed 5 EUR Five off five map[id:member-1001]", fmt.Sprint(first["code"], " ", first["status"], " ", first["value"],
			" ", first["currency"], " ", first["name"], " ", first["reward"], " ", first["customer"]))
		require.Equal(t, "Öt le", column(t, h.get(list+"?limit=1", "Accept-language", "hu"), "name")[0])
		require.Equal(t, "30", column(t, h.get(list+"?code=GIFT"), "balance")[0])

		refused(t, h.get(list+"?customer=member-1002"), http.StatusBadRequest, 190069)
		refused(t, h.get("/customers/nobody/coupons"), http.StatusNotFound, 160212)
		h.does("/customers/member-1002/merge", `{"target":"member-1001"}`)
		require.Equal(t, "A10 BAD GIFT OLD S-1 S-2 SHIP THEIRS", sortedOf(t, h.get(list), "code"))
		require.Equal(t, column(t, h.get(list), "code"), h.walkBoth(list+"?limit=3", "code"), "the same order over both accounts")
		require.Equal(t, "S-1 S-2 SHIP THEIRS", sortedOf(t, h.get("/customers/member-1002/coupons?status=claimed"), "code"))
	})
}

// gallery is a house whose member has claimed rewards of several kinds.
func gallery(t *testing.T, url string) *house {
	t.Helper()
	h := openOn(t, url, patient)
	h.enrol("member-1001")
	h.enrol("member-1002")
	h.does("/admin/modules/custom_entities", `{"enabled":true}`)
	for _, attribute := range []string{
		`{"id":"priority","on":"rewards/reward","name":"priority","type":"boolean","tags":["filterable","api"]}`,
		`{"id":"slogan","on":"rewards/reward","name":"slogan","type":"string","translatable":true,"tags":["api"]}`,
	} {
		h.makes("/entities/custom-entities/attribute", attribute)
	}

	h.makes("/entities/stores/store", `{"id":"budapest-01","name":"Budapest 1"}`)
	for _, reward := range []string{
		`{"id":"coffee","title":{"en":"Coffee","hu":"Kávé"},"description":{"en":"A cup"},"type":"coupon","points":20,"coupon":{"type":"percentage","value":100},"starts_at":"2026-01-01","stores":["budapest-01"],"image":{"small":"https://shop.test/s.png"},"cf_priority":true,"cf_slogan":{"en":"Wake up","hu":"Ébresztő"}}`,
		`{"id":"wallpaper","title":{"en":"Wallpaper","hu":"Háttérkép"},"type":"download","points":5,"ends_at":"2126-01-01","stores":["vienna-01"],"cf_priority":false}`,
		`{"id":"bonus","title":{"en":"Bonus"},"type":"points","award":50}`,
		`{"id":"mug","title":{"en":"A mug"},"type":"physical","points":30,"ends_at":"2126-06-30","stores":["budapest-01","vienna-01"]}`,
	} {
		h.makes("/entities/rewards/reward", reward)
	}

	h.happens("member-1001", "point_add", `{"points":1000}`)
	for _, reward := range []string{"coffee", "wallpaper", "bonus", "mug", "mug"} {
		time.Sleep(time.Millisecond) // claims of one millisecond have no order of time
		h.does(member+"/activities/rewards/"+reward+"/claim", "")
	}

	return h
}

// spec: endpoint.pages:/customers/{customer_id}/rewards, order.on:/customers/{customer_id}/rewards, filter.rewards.*
func TestListClaimedRewards(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		today, _ := days(t)
		h := gallery(t, url)
		const list = member + "/rewards"
		h.does("/entities/rewards/reward/wallpaper/archive", "")
		require.Equal(t, []string{"mug", "mug", "bonus", "wallpaper", "coffee"}, column(t, h.get(list), "id"), "the newest first")
		claims := column(t, h.get(list), "claim_id")
		h.does(member+"/activities/rewards/mug/revoke", `{"event":"`+claims[1]+`"}`)
		for query, want := range map[string]string{
			"":                                 "bonus coffee mug mug wallpaper",
			"type=coupon":                      "coffee",
			"type.ne=physical":                 "bonus coffee wallpaper",
			"type.in=download,points":          "bonus wallpaper",
			"type.nin=download,points":         "coffee mug mug",
			"type=cash":                        "",
			"points=20":                        "coffee",
			"points.eq=0":                      "bonus",
			"points.ne=30":                     "bonus coffee wallpaper",
			"points.gt=20":                     "mug mug",
			"points.gte=20":                    "coffee mug mug",
			"points.lt=20":                     "bonus wallpaper",
			"points.lte=20":                    "bonus coffee wallpaper",
			"points.in=0,5":                    "bonus wallpaper",
			"points.nin=0,5":                   "coffee mug mug",
			"points.gte=5&points.lt=30":        "coffee wallpaper",
			"points=many":                      "",
			"stores=budapest-01":               "bonus coffee mug mug",
			"stores=vienna-01,linz-01":         "bonus mug mug wallpaper",
			"stores.eq=budapest-01":            "bonus coffee mug mug",
			"stores.ne=budapest-01":            "wallpaper",
			"stores.in=budapest-01,vienna-01":  "bonus coffee mug mug wallpaper",
			"stores.nin=budapest-01,vienna-01": "",
			"starts_at=2026-01-01":             "coffee",
			"starts_at.ne=2026-01-01":          "bonus mug mug wallpaper",
			"starts_at.lt=2026-01-01":          "",
			"ends_at.gte=2126-01-01":           "mug mug wallpaper",
			"ends_at.gt=2126-01-01":            "mug mug",
			"ends_at.lte=2126-01-01":           "wallpaper",
			"ends_at.in=2126-01-01,2126-06-30": "mug mug wallpaper",
			"ends_at.nin=2126-01-01":           "bonus coffee mug mug",
			"ends_at.lt=2023-02-30":            "",
			"status=active":                    "bonus coffee mug mug",
			"status=completed":                 "wallpaper",
			"status=scheduled":                 "",
			"status.in=active,completed":       "bonus coffee mug mug wallpaper",
			"status.ne=active":                 "wallpaper",
			"status.nin=active":                "wallpaper",
			"status=claimed":                   "",
			"state=claimed":                    "bonus coffee mug wallpaper",
			"state.in=revoked,redeemed":        "mug",
			"state.ne=claimed":                 "mug",
			"state.nin=claimed,revoked":        "",
			"claimed_at=" + today:              "bonus coffee mug mug wallpaper",
			"claimed_at.lt=" + today:           "",
			"cf_priority=true":                 "coffee",
			"cf_priority=false":                "wallpaper",
			"cf_priority.ne=true":              "bonus mug mug wallpaper",
		} {
			require.Equal(t, want, sortedOf(t, h.get(list+"?"+query), "id"), query)
		}

		for query, want := range map[string]string{
			"sort=title":                 "mug mug bonus coffee wallpaper",
			"sort=title&order=desc":      "wallpaper coffee bonus mug mug",
			"sort=points":                "bonus wallpaper coffee mug mug",
			"sort=points&order=desc":     "mug mug coffee wallpaper bonus",
			"sort=starts_at":             "coffee mug mug bonus wallpaper",
			"sort=ends_at":               "wallpaper mug mug bonus coffee",
			"sort=ends_at&order=desc":    "mug mug wallpaper bonus coffee",
			"sort=claimed_at":            "coffee wallpaper bonus mug mug",
			"sort=claimed_at&order=desc": "mug mug bonus wallpaper coffee",
			"order=asc":                  "coffee wallpaper bonus mug mug",
			"order=asc&points.gte=0":     "coffee wallpaper bonus mug mug",
			"order=desc":                 "mug mug bonus wallpaper coffee",
			"sort=points&state=claimed&stores=budapest-01,vienna-01": "bonus wallpaper coffee mug",
		} {
			require.Equal(t, want, strings.Join(column(t, h.get(list+"?"+query), "id"), " "), query)
			require.Equal(t, want, strings.Join(h.walkBoth(list+"?limit=2&"+query, "id"), " "), query)
		}

		require.Equal(t, claims, h.walkBoth(list+"?limit=2", "claim_id"))
		require.Equal(t, claims[:4], h.walkBoth(list+"?limit=1&type.ne=coupon", "claim_id"), "a filter keeps its place too")
		require.Equal(t, []string{"sort"}, h.get(list+"?sort=stock").fault(t).fields())
		require.Equal(t, []string{"order"}, h.get(list+"?sort=title&order=up").fault(t).fields())
		refused(t, h.get(list+"?cf_slogan=x"), http.StatusBadRequest, 190069)
		refused(t, h.get("/customers/nobody/rewards"), http.StatusNotFound, 160212)
	})
}

func TestClaimedRewardShows(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := gallery(t, url)
		one := func(who, reward string, headers ...string) map[string]any {
			t.Helper()
			for _, entry := range h.get("/customers/"+who+"/rewards", headers...).json(t)["data"].([]any) {
				if e := entry.(map[string]any); e["id"] == reward {
					return e
				}
			}
			return nil
		}

		coffee := one("member-1001", "coffee", "Accept-language", "hu")
		require.Equal(t, "Kávé A cup 20 Ébresztő true map[small:https://shop.test/s.png] [budapest-01] active claimed", fmt.Sprint(coffee["title"], " ", coffee["description"],
			" ", coffee["points"], " ", coffee["cf_slogan"], " ", coffee["cf_priority"], " ", coffee["image"], " ", coffee["stores"], " ", coffee["status"], " ", coffee["state"]))
		require.NotEmpty(t, coffee["claimed_at"])
		require.Equal(t, "claimed map[id:member-1001] coffee", fmt.Sprint(coffee["coupon"].(map[string]any)["status"], " ",
			coffee["coupon"].(map[string]any)["customer"], " ", coffee["coupon"].(map[string]any)["reward"]))
		require.Equal(t, "50 0", fmt.Sprint(one("member-1001", "bonus")["award"], " ", one("member-1001", "bonus")["points"]))
		require.NotContains(t, one("member-1001", "bonus"), "coupon")

		h.happens("member-1001", "reward_transfer", `{"target":"member-1002","reward":"coffee"}`)
		given, got := one("member-1001", "coffee"), one("member-1002", "coffee")
		require.Equal(t, "transferred 20", fmt.Sprint(given["state"], " ", given["points"]))
		require.NotContains(t, given, "coupon", "its code is another's secret now")
		require.Equal(t, "claimed 0 map[id:member-1002]", fmt.Sprint(got["state"], " ", got["points"], " ", got["coupon"].(map[string]any)["customer"]))

		h.does(member+"/merge", `{"target":"member-1002"}`)
		require.Equal(t, "bonus coffee coffee mug mug wallpaper", sortedOf(t, h.get("/customers/member-1002/rewards"), "id"))
		require.Len(t, h.walkBoth(member+"/rewards?limit=4", "id"), 6, "the old id leads to who has it now")
	})
}
