package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestWhatChangesNothingIsNotAudited: an update that leaves everything as it was is answered as ever, and has neither a line
// in the audit trail nor a notice. What is changed has both.
func TestWhatChangesNothingIsNotAudited(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		r, c := newReceiver(t), h.courier()
		hook := "/admin/webhooks/" + h.hook(r, `["event.*","programme.changed"]`, `,"headers":{"authorization":"Bearer x"},"filter":"event.points > 1"`)
		made := h.post("/admin/keys", `{"label":"Till","apis":["events"]}`)
		require.Equal(t, 201, made.status, made.body)
		key := "/admin/keys/" + data(t, made)["key_id"].(string)
		require.Equal(t, 201, h.post("/admin/users", `{"login":"ada","name":"Ada","role":"editor"}`).status)
		require.Equal(t, 201, h.post("/entities/stores/store", `{"id":"s-1","name":"One"}`).status)
		const window = `{"acceptance_window_seconds":90}`
		require.Equal(t, 200, h.post("/admin/settings", window).status)
		require.Equal(t, 200, h.post("/admin/modules/contests", `{"enabled":true}`).status)
		c.run()
		r.all()
		lines := func() int { return len(h.get("/admin/audit?limit=1000").json(t)["data"].([]any)) }
		before := lines()
		for _, same := range []struct{ target, body string }{
			{hook, `{}`}, {hook, `{"types":["programme.changed","event.*"],"headers":{"Authorization":"Bearer x"},"include":[],"label":"","concurrency":8}`},
			{hook + "/resume", `{}`}, {key, `{}`}, {key, `{"label":"Till","apis":["events"],"read_only":false,"addresses":[]}`},
			{"/admin/users/ada", `{"name":"Ada"}`}, {"/entities/stores/store/s-1", `{"name":"One"}`}, {"/entities/stores/store/s-1", `{}`}, {"/admin/settings", window}, {"/admin/settings", `{}`},
			{"/admin/modules/contests", `{"enabled":true}`}, {"/admin/modules/contests", `{}`},
		} {
			was := h.get(strings.TrimSuffix(same.target, "/resume"))
			a := h.post(same.target, same.body)
			require.Equal(t, 200, a.status, same.target+a.body)

			require.Equal(t, data(t, was), data(t, a), same.target)
			require.Equal(t, before, lines(), same.target+same.body)
		}

		c.run()
		require.Empty(t, r.all())
		for _, changed := range []struct{ target, body string }{
			{hook, `{"headers":{"Authorization":"Bearer y"}}`}, {hook + "/rotate", `{"overlap_seconds":0}`}, {hook + "/pause", `{}`}, {key, `{"rate_limit":1000}`}, {key, `{"rate_limit":7}`},
			{key + "/rotate", `{"overlap_seconds":0}`}, {"/admin/users/ada", `{"name":"Ada L"}`}, {"/entities/stores/store/s-1", `{"name":"Two"}`},
			{"/admin/settings", `{"acceptance_window_seconds":91}`}, {"/admin/modules/contests", `{"enabled":false}`},
		} {
			require.Equal(t, 200, h.post(changed.target, changed.body).status, changed.target)
			before++
			require.Equal(t, before, lines(), changed.target+changed.body)
		}

		require.Equal(t, 200, h.post(hook+"/pause", `{}`).status)
		require.Equal(t, before, lines(), "it is paused already")

		limits := map[string]any{} // by action: before and after
		for _, line := range h.get("/admin/audit?target=" + strings.TrimPrefix(key, "/admin/keys/")).json(t)["data"].([]any) {
			line := line.(map[string]any)
			if line["action"] != "key.rotate" {
				limits[line["action"].(string)] = line["after"].(map[string]any)["rate_limit"]
			}
		}

		require.Equal(t, json.Number("1000"), limits["key.create"], "the default")
	})
}
