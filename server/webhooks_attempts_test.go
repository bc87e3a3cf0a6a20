package server_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// attempts adds the minutes of a webhook up: delivered, refused, unanswered; timed is how many
// minutes have a median.
func (h *house) attempts(id string) (delivered, refused, unanswered, timed int64) {
	h.t.Helper()
	d := data(h.t, h.get("/admin/webhooks/"+id+"/attempts"))
	minutes := d["minutes"].([]any)
	require.Len(h.t, minutes, 60)
	var last time.Time
	for _, m := range minutes {
		m := m.(map[string]any)
		at, err := time.Parse(time.RFC3339, m["at"].(string))
		require.NoError(h.t, err)
		require.Equal(h.t, at.Truncate(time.Minute), at)
		require.True(h.t, last.IsZero() || at.Equal(last.Add(time.Minute)), "each minute once: %v after %v", at, last)
		last = at
		add := func(to *int64, name string) {
			n, err := m[name].(json.Number).Int64()
			require.NoError(h.t, err)
			*to += n
		}

		add(&delivered, "delivered")
		add(&refused, "refused")
		add(&unanswered, "unanswered")
		if median, ok := m["median"]; ok {
			timed++
			half, err := median.(json.Number).Float64()
			require.NoError(h.t, err)
			most, err := m["p95"].(json.Number).Float64()
			require.NoError(h.t, err)
			require.LessOrEqual(h.t, half, most)
		}
	}

	return delivered, refused, unanswered, timed
}

// TestWebhookAttempts: the attempts of the last hour are counted by what became of them, those
// of one webhook alone.
func TestWebhookAttempts(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("member-1")
		h.numbered()
		r, silent, c := newReceiver(t), newReceiver(t), h.courier()
		took, lost := h.hook(r, `["event.point_add"]`, ""), h.hook(silent, `["event.point_add"]`, "")
		delivered, refused, unanswered, timed := h.attempts(took)
		require.Equal(t, []int64{0, 0, 0, 0}, []int64{delivered, refused, unanswered, timed}, "nothing was tried yet")

		h.add("member-1", "1")
		h.add("member-1", "2")
		h.add("member-1", "3")
		silent.says(func(http.ResponseWriter, *received) bool { panic(http.ErrAbortHandler) })
		c.run()
		require.Len(t, r.all(), 3)
		r.status(http.StatusTeapot)
		h.add("member-1", "4")
		c.run()

		delivered, refused, unanswered, timed = h.attempts(took)
		require.Equal(t, []int64{3, 1, 0}, []int64{delivered, refused, unanswered})
		require.Positive(t, timed)
		delivered, refused, unanswered, timed = h.attempts(lost)
		require.Equal(t, []int64{0, 0, 0}, []int64{delivered, refused, timed}, "there was no answer to time")
		require.Positive(t, unanswered)

		require.Equal(t, http.StatusNotFound, h.get("/admin/webhooks/nonsense/attempts").status)
		require.Equal(t, http.StatusNotFound, h.get("/admin/webhooks/01902d3c-0000-7000-8000-000000000000/attempts").status)
	})
}
