package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// exampleStory is an order in which every example of the Events document works
// when it is sent as it is, but for the names that only one event may use.
var exampleStory = []struct {
	action string
	names  []string // old, new, …
}{
	{"opt_in", nil},
	{"point_add", nil},
	{"visit", nil},
	{"video", nil},
	{"profile", nil},
	{"point_sub", nil},
	{"point_spend", nil},
	{"point_unspend", nil},
	{"reserve_points", nil},
	{"release_points", nil},
	{"suspend", nil},
	{"unsuspend", nil},
	{"checkout", nil},
	{"partial_refund", nil},
	{"refund_item", nil},
	{"refund", nil},
	{"", nil}, // from here on purchases are pending
	{"checkout", []string{"T-1001", "T-2001"}},
	{"checkout_update", []string{"T-1001", "T-2001", "2026-03-20", "2126-03-20"}},
	{"checkout_accept", []string{"T-1001", "T-2001"}},
	{"checkout", []string{"T-1001", "T-2002"}},
	{"checkout_reject", []string{"T-1001", "T-2002"}},
	{"subscribe", []string{"member-1001", "member-1002"}},
	{"opt_out", nil},
}

// TestEveryExampleWorks sends each example of the Events document through HTTP,
// as JSON and as a form, on both databases; the answers are held against the
// document, and the two forms must lead to the same figures.
func TestEveryExampleWorks(t *testing.T) {
	examples := eventExamples(t)
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url)
		told := map[string]bool{}
		for _, step := range exampleStory {
			if step.action == "" {
				a := h.post("/admin/modules/checkout_accept", `{"enabled":true,"config":{"type":"manual"}}`)
				require.Equal(t, http.StatusOK, a.status, a.body)
				continue
			}
			told[step.action] = true
			text := strings.NewReplacer(step.names...).Replace(examples[step.action])
			asForm := strings.NewReplacer("1001", "3001", "1002", "3002", "2001", "4001", "2002", "4002", "000417", "000418").Replace(text)
			preview := h.post("/events/preview", text)
			require.Equal(t, http.StatusOK, preview.status, preview.body)
			require.NotContains(t, preview.json(t), "error", preview.body)
			first := h.post("/events", text)
			require.Equal(t, http.StatusOK, first.status, "%s: %s", step.action, first.body)
			require.Equal(t, shown(t, preview), shown(t, first), "the preview of %s told the truth", step.action)
			second := h.form("/events", formOf(t, asForm))
			require.Equal(t, http.StatusOK, second.status, "%s as a form: %s", step.action, second.body)
			require.Equal(t, shown(t, first), shown(t, second), step.action)
		}
		require.Equal(t, slices.Sorted(maps.Keys(examples)), slices.Sorted(maps.Keys(told)), "every example is sent")
	})
}

// eventExamples gives the example of each action as JSON.
func eventExamples(t *testing.T) map[string]string {
	doc, err := openapi.Load("events")
	require.NoError(t, err)
	examples := map[string]string{}
	for name, ref := range doc.Paths.Find("/events").Post.RequestBody.Value.Content.Get("application/json").Examples {
		text, err := json.Marshal(ref.Value.Value)
		require.NoError(t, err)
		examples[name] = string(text)
	}
	require.Len(t, examples, 21)
	return examples
}

// shown is what an answer says of the figures and of the events, without ids.
func shown(t *testing.T, a answer) string {
	var b strings.Builder
	v := a.json(t)
	if c, ok := v["customer"].(map[string]any); ok {
		fmt.Fprintln(&b, c["status"], c["score"], c["spent"], c["pending"], c["reserved"], c["spendable"])
	}
	for _, e := range v["events"].([]any) {
		fmt.Fprintln(&b, e.(map[string]any)["action"], e.(map[string]any)["points"])
	}
	return b.String()
}

// formOf writes a JSON object with bracketed field names.
func formOf(t *testing.T, text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v map[string]any
	require.NoError(t, d.Decode(&v))
	var pairs []string
	var write func(name string, v any)
	write = func(name string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				write(name+"["+key+"]", v[key])
			}
		case []any:
			for i, item := range v {
				write(fmt.Sprintf("%s[%d]", name, i), item)
			}
		default:
			pairs = append(pairs, url.QueryEscape(name)+"="+url.QueryEscape(fmt.Sprint(v)))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(v)) {
		write(key, v[key])
	}
	return strings.Join(pairs, "&")
}
