package server_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/engine"
	"github.com/loyalty-platform/loyalty/server/loyalty/job"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// jobOf finds a job in the list.
func jobOf(t *testing.T, h *house, name string, headers ...string) map[string]any {
	t.Helper()
	for _, j := range h.get("/admin/jobs", headers...).json(t)["data"].([]any) {
		if j := j.(map[string]any); j["name"] == name {
			return j
		}
	}
	require.Fail(t, "no job "+name)
	return nil
}

func TestJobs(t *testing.T) {
	h := open(t)
	var names []string
	for _, j := range h.get("/admin/jobs").json(t)["data"].([]any) {
		names = append(names, j.(map[string]any)["name"].(string))
	}

	require.Equal(t, []string{"anchor", "answers", "auto_accept", "backup", "bulk", "expiry", "imports", "leaderboard", "ledger", "partitions", "pending", "reminders", "statistics", "tail", "tiers", "webhooks"}, names)
	require.Equal(t, map[string]any{"name": "expiry", "schedule": "PT60S", "running": false}, jobOf(t, h, "expiry"), "it never ran")
	for _, name := range names {
		a := h.post("/admin/jobs/"+name+"/run", "")
		if name == "backup" || name == "ledger" {
			require.Equal(t, http.StatusNotFound, a.status, "there is no folder for a backup, and no proof is wanted")
			continue
		}
		require.Equal(t, http.StatusOK, a.status, "%s: %s", name, a.body)
		ran := data(t, a)
		require.Equal(t, false, ran["running"])
		require.NotEmpty(t, ran["last_run_at"])
		require.NotEmpty(t, ran["next_run_at"])
		require.NotEmpty(t, ran["last_duration"])
		require.Equal(t, "0", fmt.Sprint(ran["last_result"].(map[string]any)["failed"]), "%s: %s", name, a.body)
		require.Equal(t, ran, jobOf(t, h, name))
	}

	require.Len(t, h.get("/admin/jobs?limit=2&offset=14").json(t)["data"], 2)
	require.Equal(t, http.StatusNotFound, h.post("/admin/jobs/cleaning/run", "").status)
	require.Equal(t, http.StatusNotFound, h.post("/admin/jobs/-/run", "").status)

	var noted []string
	for _, e := range h.get("/admin/audit?limit=50&action=job.run").json(t)["data"].([]any) {
		entry := e.(map[string]any)
		require.Equal(t, h.key.KeyID, entry["key_id"])
		noted = append(noted, entry["target"].(string))
	}

	slices.Sort(noted)
	ran := slices.DeleteFunc(names, func(name string) bool { return name == "backup" || name == "ledger" })
	require.Equal(t, ran, noted, "each run has its line, and what did not run has none")
}

// TestJobDoesWhatIsDue: points that have expired are gone after the job, although no request read the customer.
func TestJobDoesWhatIsDue(t *testing.T) {
	h := open(t)
	require.Equal(t, http.StatusOK, h.post("/admin/modules/points_economy", `{"config":{"expiry":{"policy":"rolling","days":1}}}`).status)
	var who string
	for left := 300 * time.Millisecond; ; left *= 2 { // a slow machine records the points when they have expired already
		who = "member-" + left.String()
		h.enrol(who)
		at := time.Now().Add(left).AddDate(0, 0, -1).UTC().Format(time.RFC3339Nano)
		h.does("/events", `{"customer":"`+who+`","action":"point_add","data":{"points":10,"effective_timestamp":"`+at+`"}}`)
		if c, err := h.store.Customer(t.Context(), who); err == nil && c.Figures.Expired == 0 {
			break
		}
	}

	require.Eventually(t, func() bool {
		a := h.does("/admin/jobs/expiry/run", "")
		return fmt.Sprint(data(t, a)["last_result"].(map[string]any)["done"]) == "1"
	}, time.Minute, 100*time.Millisecond)

	require.Equal(t, "10", fmt.Sprint(data(t, h.get("/customers/"+who))["expired"]))
}

// slowForgetting holds a job up until it is released, as a large table does.
type slowForgetting struct {
	loyalty.JobStore
	begun   chan struct{}
	release chan struct{}
}

func (s *slowForgetting) ForgetAnswers(ctx context.Context, before time.Time) error {
	close(s.begun)
	<-s.release
	return s.JobStore.ForgetAnswers(ctx, before)
}

// TestJobUnderWay: a long job answers while it runs, is seen by the list, cannot
// be started twice, and goes on without its caller.
func TestJobUnderWay(t *testing.T) {
	slow := &slowForgetting{begun: make(chan struct{}), release: make(chan struct{})}
	h := open(t, func(o *server.Options) {
		slow.JobStore = o.Reader.(loyalty.JobStore)
		o.Jobs = job.NewJobs(job.JobsOptions{Engine: o.Engine.(*engine.Engine), Store: slow})
		o.JobWait = time.Millisecond
	})

	h.does("/admin/jobs/answers/run", "")
	<-slow.begun
	require.Equal(t, true, jobOf(t, h, "answers")["running"])
	require.NotContains(t, jobOf(t, h, "answers"), "last_duration")
	second := h.post("/admin/jobs/answers/run", "")
	if second.status == http.StatusOK { // its wait was over before it was refused
		require.Equal(t, true, data(t, second)["running"])
	} else {
		require.Equal(t, http.StatusConflict, second.status, second.body)
	}

	close(slow.release)
	require.Eventually(t, func() bool { return jobOf(t, h, "answers")["running"] == false }, time.Minute, 10*time.Millisecond)
	require.Equal(t, "1", fmt.Sprint(jobOf(t, h, "answers")["last_result"].(map[string]any)["done"]))
}

// TestJobFailuresAreTold: that a job failed is told in the caller's language, and what its log says to those who can act on it.
func TestJobFailuresAreTold(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openConsole(t, url)
		require.Equal(t, http.StatusOK, h.post("/admin/jobs/answers/run", "").status)
		_, err := storetest.Raw(t, url).Exec("UPDATE jobs SET failed = 2, result = 'unavailable (190002): the database is away' WHERE name = 'answers'")
		require.NoError(t, err)
		for language, said := range map[string]string{
			"en": "the last run of the job answers failed; failures in it: 2", "es": "la última ejecución del trabajo answers falló; fallos en ella: 2",
			"fr": "la dernière exécution de la tâche answers a échoué\u202f; échecs\u00a0: 2", "hu": "a(z) answers feladat utolsó futása sikertelen; hibák: 2",
		} {
			a := h.get("/admin/jobs?limit=100", "Accept-Language", language)
			require.Contains(t, a.header.Get("Content-Language"), language)
			result := jobOf(t, h, "answers", "Accept-Language", language)["last_result"].(map[string]any)
			require.Equal(t, said, result["error"])
			require.Equal(t, "unavailable (190002): the database is away", result["log"])
		}

		a := h.enter("looks", loyalty.RoleViewer, true).get(bridged + "/admin/jobs?limit=100")
		require.Contains(t, a.body, `"error":"the last run of the job answers failed; failures in it: 2"`)
		require.NotContains(t, a.body, `"log"`)
	})
}
