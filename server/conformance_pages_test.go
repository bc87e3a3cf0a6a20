package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// library is a programme in which every list that the specification names has
// three entries at least. It gives the paths of the lists.
func library(t *testing.T, url string) (h *house, paths []string) {
	var jobs *job.Jobs
	h = openOn(t, url, patient, func(o *server.Options) { jobs = o.Jobs.(*job.Jobs) })
	h.everyModule()
	for _, id := range []string{"member-1001", "member-1002", "member-1003"} {
		h.enrol(id)
	}

	h.happens("member-1001", "point_add", `{"points":500}`)
	for i := range 3 {
		h.told(fmt.Sprintf(`{"customer":"member-1001","action":"checkout","data":{"transaction_id":"T-%d","total":10,"items":[%s,%s]}}`, i, teaLine, teaLine))
		h.told(fmt.Sprintf(`{"customer":"member-1001","action":"coupon_create","data":{"code":"C-%d","value":5}}`, i))
		h.entity("rewards/reward", fmt.Sprintf(`{"id":"r-%d","title":{"en":"R %d"},"type":"physical","points":1}`, i, i))
		h.entity("prize-wheels/wheel", fmt.Sprintf(`{"id":"w-%d","name":{"en":"W %d"},"options":[{"type":"empty","label":{"en":"Nothing"},"weight":1}]}`, i, i))
		h.entity("quizzes/quiz", fmt.Sprintf(`{"id":"q-%d","title":{"en":"Q"},"question":{"en":"Q?"},"answers":[{"id":"a","text":{"en":"A"}},{"id":"b","text":{"en":"B"}}],"correct_answer":"a"}`, i))
		h.entity("challenges/challenge", fmt.Sprintf(`{"id":"c-%d","title":{"en":"C"},"criteria":[{"action":"visit","threshold":5}]}`, i))
		require.Equal(t, http.StatusOK, h.form(fmt.Sprintf("%s/activities/rewards/r-%d/claim", member, i), "").status)
	}

	h.entity("core/customer-list", `{"id":"spring","name":"Spring"}`)
	const unknown = `{"customers":["nobody-1","nobody-2","nobody-3"]}`
	claims, list := begun(t, h.post("/v1/bulk-operation/reward/claim/r-1", unknown), 3), begun(t, h.post(springList, unknown), 3)
	_, err := jobs.Run(t.Context(), "bulk")
	require.NoError(t, err)
	return h, []string{
		"/customers", "/customers/-/events", member + "/events", member + "/transactions", member + "/transactions/T-1/events", member + "/transactions/-/search",
		member + "/prize-wheels", member + "/rewards", activities, member + "/activities/quizzes", "/v2" + member + "/activities/challenges", "/entities/rewards/reward",
		"/v1/bulk-operation/reward/claim/" + claims + "/status/errors", "/v1/bulk-operation/customer-list/" + list + "/status/errors", "/rewards", "/coupons",
		"/v1/customers", "/v1" + member + "/coupons", "/v1" + member + "/events", "/v1" + member + "/transactions",
	}
}

// TestPagesOfTheSpecification: each path that is named as supporting pagination
// takes limit and offset, and its relative links lead through the whole list and
// back.
//
// spec: endpoint.pages:*, page.limit, page.offset, page.links, list.data, list.next, list.previous, list.time, version.prefix
func TestPagesOfTheSpecification(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h, paths := library(t, url)
		require.Len(t, paths, 20, "as many as the specification names")
		for _, path := range paths {
			t.Run(path, func(t *testing.T) { h.during(t).pages(path) })
		}
	})
}

// pages reads a list whole and in pages.
func (h *house) pages(path string) {
	t := h.t
	page := func(target string) (list []any, next, previous string) {
		a := h.sees(target)
		v := a.json(t)
		took, err := v["time"].(json.Number).Float64()
		require.NoError(t, err)
		require.GreaterOrEqual(t, took, 0.0)
		next, _ = v["next"].(string)
		previous, _ = v["previous"].(string)
		for _, link := range []string{next, previous} {
			require.True(t, link == "" || strings.HasPrefix(link, "/"), "%s is relative", link)
		}
		return v["data"].([]any), next, previous
	}

	all, next, previous := page(path + "?limit=100")
	require.GreaterOrEqual(t, len(all), 3)
	require.Equal(t, " ", next+" "+previous, "there is nothing else")
	one, _, _ := page(path + "?limit=1&offset=1")
	require.Equal(t, all[1:2], one)
	none, _, _ := page(fmt.Sprintf("%s?limit=1&offset=%d", path, len(all)))
	require.Empty(t, none)

	var walked []any
	var firsts []int
	link, last := path+"?limit=2", ""
	for link != "" {
		var list []any
		firsts = append(firsts, len(walked))
		list, link, last = page(link)
		walked = append(walked, list...)
	}

	require.Equal(t, all, walked)
	for i := len(firsts) - 2; i >= 0; i-- {
		var list []any
		require.NotEmpty(t, last)
		list, _, last = page(last)
		require.Equal(t, all[firsts[i]:firsts[i]+2], list)
	}

	require.Empty(t, last, "nothing lies before the first page")
}
