package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestChallenges: what a customer can work on, how far they are, and what they
// completed.
//
// spec: filter.challenges.*, order.on:/v2/customers/{customer_id}/activities/challenges, endpoint.filters:/customers/{customer_id}/activities/challenges, endpoint.filters:/customers/{customer_id}/challenges, version.prefix
func TestChallenges(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.module("custom_entities", true)
		h.entity("custom-entities/attribute", `{"on":"challenges/challenge","name":"level","type":"integer","tags":["filterable","api"]}`)
		h.entity("challenges/challenge",
			`{"id":"visits","title":{"en":"Two visits"},"criteria":[{"action":"visit","threshold":2}],"points":5,"max_completions":2,"tags":["spring","web"],"ends_at":"2999-01-01","cf_level":3}`,
			`{"id":"spend","title":{"en":"Buy and come","hu":"Vásárolj és gyere"},"description":{"en":"Buy for a hundred, and come by."},"criteria":[{"action":"checkout","sum":"data.total","threshold":100},{"action":"visit","threshold":1}],"points":50,"tags":["spring"],"window_days":30,"starts_at":"2026-01-01"}`,
			`{"id":"first","title":{"en":"A first visit"},"criteria":[{"action":"visit","threshold":1}]}`,
			`{"id":"soon","title":{"en":"Soon"},"criteria":[{"action":"visit","threshold":1}],"starts_at":"2999-01-01"}`,
			`{"id":"over","title":{"en":"Over"},"criteria":[{"action":"visit","threshold":1}],"ends_at":"2020-01-01"}`)

		h.enrol("member-1001")
		const v1, v2, done = member + "/activities/challenges", "/v2" + member + "/activities/challenges", member + "/challenges"
		require.Equal(t, "visits first spend", h.get(v1).ids(t), "those that end first, then by id")
		require.Equal(t, "visits first spend", h.get(v2).ids(t))
		require.Empty(t, h.get(done).ids(t))

		h.happens("member-1001", "visit", `{"url":"https://shop.test/"}`)
		h.happens("member-1001", "checkout", `{"transaction_id":"T-1","total":59.99}`)
		require.Equal(t, "visits spend", h.get(v1).ids(t))
		require.Equal(t, "first", h.get(done).ids(t))
		require.Equal(t, "50 0 2", howFar(entry(t, h.get(v1), "visits")))
		spend := entry(t, h.get(v1, "Accept-language", "hu"), "spend")
		require.Equal(t, "79 0 1", howFar(spend))
		delete(spend, "progress")
		progress := entry(t, h.get(v2, "Accept-language", "hu"), "spend")
		criteria := progress["progress"].(map[string]any)
		require.NotEmpty(t, criteria["started_at"])
		delete(criteria, "started_at")
		require.Equal(t, map[string]any{"percent": json.Number("79"), "criteria": []any{
			map[string]any{"action": "checkout", "label": "Vásárlás", "current": json.Number("59"), "threshold": json.Number("100"), "percent": json.Number("59")},
			map[string]any{"action": "visit", "label": "Oldal megtekintve", "current": json.Number("1"), "threshold": json.Number("1"), "percent": json.Number("100")},
		}}, criteria)

		require.Equal(t, json.Number("30"), progress["window_days"])
		delete(progress, "progress")
		delete(progress, "window_days")
		require.Equal(t, spend, progress, "both versions say the same otherwise")
		require.Equal(t, map[string]any{
			"id": "spend", "status": "active", "title": "Vásárolj és gyere", "description": "Buy for a hundred, and come by.", "points": json.Number("50"),
			"tags": []any{"spring"}, "starts_at": "2026-01-01T00:00:00.000Z", "completions": json.Number("0"), "completions_left": json.Number("1"),
		}, progress)

		for query, want := range map[string]string{
			"points.gte=50": "spend", "points.lt=50": "visits", "points=5": "visits", "points=five": "", "points.in=5,50": "visits spend",
			"tags=spring": "visits spend", "tags=web,other": "visits", "tags.nin=web": "spend", "tags.ne=web,other": "spend", "tags=none": "",
			"ends_at.lt=3000-01-01": "visits", "ends_at=2999-01-01": "visits", "ends_at.gte=2999-01-02": "", "ends_at=2999-02-30": "",
			"cf_level=3": "visits", "cf_level.gt=3": "", "limit=1&offset=1": "spend",
		} {
			require.Equal(t, want, h.get(v1+"?"+query).ids(t), query)
			require.Equal(t, want, h.get(v2+"?"+query).ids(t), query)
		}

		for query, want := range map[string]string{
			"sort=points": "visits spend", "sort=points&order=desc": "spend visits", "sort=title": "spend visits", "sort=title&order=desc": "visits spend",
			"sort=starts_at": "spend visits", "sort=ends_at&order=desc": "visits spend",
		} {
			require.Equal(t, want, h.get(v2+"?"+query).ids(t), query)
		}

		require.Equal(t, []string{"sort"}, h.get(v1+"?sort=points").fault(t).fields(), "only the second version sorts")
		require.Equal(t, []string{"status"}, h.get(v1+"?status=active").fault(t).fields())

		h.happens("member-1001", "visit", `{"url":"https://shop.test/"}`)
		require.Equal(t, "0 1 1", howFar(entry(t, h.get(v1), "visits")), "the next completion begins anew")
		time.Sleep(2 * time.Millisecond) // completions of one millisecond have no order of time
		h.happens("member-1001", "checkout", `{"transaction_id":"T-2","total":40.01}`)
		require.Equal(t, "visits", h.get(v1).ids(t))
		require.Equal(t, "spend visits first", h.get(done).ids(t), "the one completed last comes first")
		require.Equal(t, "100 1 0", howFar(entry(t, h.get(done), "spend")))
		require.Equal(t, "visits", h.get(done+"?tags=web").ids(t))
		require.NotEmpty(t, entry(t, h.get(done), "first")["completed_at"])
		require.Equal(t, http.StatusOK, h.post("/entities/challenges/challenge/first/archive", "").status)
		require.Equal(t, "spend visits", h.get(done).ids(t))

		for _, path := range []string{v1, v2, done} {
			unknown := map[string]string{v1: "/customers/nobody/activities/challenges", v2: "/v2/customers/nobody/activities/challenges", done: "/customers/nobody/challenges"}[path]
			refused(t, h.get(unknown), http.StatusNotFound, 160212)
		}

		h.module("challenges", false)
		for _, path := range []string{v1, v2, done} {
			refused(t, h.get(path), http.StatusNotFound, 160600)
		}
	})
}

// howFar is what the first version says of a challenge.
func howFar(c map[string]any) string {
	return fmt.Sprint(c["progress"], " ", c["completions"], " ", c["completions_left"])
}
