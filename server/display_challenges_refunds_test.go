package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestChallengesAndRefunds: a full refund takes its purchase out of a challenge, takes
// a completion back, and says so beforehand in a preview; a challenge that keeps its
// progress is not touched.
func TestChallengesAndRefunds(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.entity("challenges/challenge",
			`{"id":"two","title":{"en":"Two"},"criteria":[{"action":"checkout","threshold":2}],"points":25}`,
			`{"id":"said","title":{"en":"Said"},"criteria":[{"action":"checkout","threshold":2}],"points":3,"refunds":"undo"}`,
			`{"id":"kept","title":{"en":"Kept"},"criteria":[{"action":"checkout","threshold":2}],"points":7,"refunds":"keep"}`)

		never := h.post("/entities/challenges/challenge", `{"id":"x","title":{"en":"X"},"criteria":[{"action":"checkout","threshold":2}],"refunds":"never"}`)
		require.Equal(t, http.StatusBadRequest, never.status, never.body)
		require.Equal(t, []string{"refunds"}, never.fault(t).fields())
		require.Contains(t, h.get("/entities/challenges/challenge/kept").body, `"refunds":"keep"`)

		h.enrol("member-1001")
		const todo, done = "/v2" + member + "/activities/challenges", member + "/challenges"
		buys := func(id string) {
			h.happens("member-1001", "checkout", fmt.Sprintf(`{"transaction_id":%q,"total":0}`, id))
		}
		buys("T-1")
		buys("T-2")
		require.ElementsMatch(t, []string{"two", "said", "kept"}, strings.Fields(h.get(done).ids(t)))
		require.Empty(t, h.get(todo).ids(t))
		require.Equal(t, json.Number("35"), h.get(member).json(t)["data"].(map[string]any)["spendable"])

		refund := `{"customer":"member-1001","action":"refund","data":{"transaction_id":"T-1"}}`
		preview := h.post("/events/preview", refund).json(t)
		var told []string
		for _, rule := range preview["rules"].([]any) {
			if v := rule.(map[string]any); v["rule"] == "challenge" {
				told = append(told, fmt.Sprint(v["input"].(map[string]any)["challenge"], " ", v["points"], " ", v["reason"]))
			}
		}

		require.Equal(t, []string{
			"two -25 the completion of the challenge is taken back", "said -3 the completion of the challenge is taken back",
		}, told)
		require.Len(t, strings.Fields(h.get(done).ids(t)), 3, "a preview changes nothing")

		events := h.does("/events", refund).json(t)["events"].([]any)
		require.Len(t, events, 3)
		first := events[0].(map[string]any)
		for i, want := range []string{"refund 0", "point_sub -25", "point_sub -3"} {
			e := events[i].(map[string]any)
			require.Equal(t, want, fmt.Sprint(e["action"], " ", e["points"]))
			if i > 0 {
				require.Equal(t, first["id"], e["parent"], "under the refund")
			}
		}

		require.Equal(t, json.Number("7"), h.get(member).json(t)["data"].(map[string]any)["spendable"])
		require.Equal(t, "kept", h.get(done).ids(t))
		two := entry(t, h.get(todo), "two")
		require.Equal(t, "0 1", fmt.Sprint(two["completions"], " ", two["completions_left"]))
		require.Equal(t, json.Number("50"), two["progress"].(map[string]any)["percent"])
		require.NotContains(t, two, "completed_at")

		buys("T-3")
		require.ElementsMatch(t, []string{"two", "said", "kept"}, strings.Fields(h.get(done).ids(t)))
		require.Equal(t, json.Number("35"), h.get(member).json(t)["data"].(map[string]any)["spendable"])
		buys("T-4")
		require.Equal(t, json.Number("35"), h.get(member).json(t)["data"].(map[string]any)["spendable"], "each is completed once")
	})
}
