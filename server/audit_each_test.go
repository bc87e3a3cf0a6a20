package server_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	administration "github.com/loyalty-platform/loyalty/server/loyalty/admin"
	people "github.com/loyalty-platform/loyalty/server/loyalty/user"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// unaudited are the requests of the Administration API that write and leave no line in the audit trail, with the reason.
var unaudited = map[string]string{
	"replayWebhook dry_run":   "it counts and sends nothing",
	"applyConfiguration plan": "it compares and changes nothing",
}

// TestEachAdministrativeWriteIsAudited: whatever changes something, or is run by hand, leaves a line in the audit trail. An operation that
// is added has to be tried here.
func TestEachAdministrativeWriteIsAudited(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openConsole(t, url)
		tried := map[string]bool{}
		lines := func() (n int, last string) {
			all := h.get("/admin/audit?limit=1000").json(t)["data"].([]any)
			return len(all), all[0].(map[string]any)["action"].(string)
		}

		// does sends a request, expects a line of an action in the trail, or none, and gives the answer's data.
		does := func(operation, target, body, action string) map[string]any {
			t.Helper()
			tried[operation] = true
			before, _ := lines()
			a := h.post(target, body)
			require.Less(t, a.status, 300, "%s: %s", operation, a.body)
			after, last := lines()
			if action == "" {
				require.Equal(t, before, after, operation)
			} else {
				require.Greater(t, after, before, operation)
				require.Equal(t, action, last, operation)
			}
			return data(t, a)
		}

		done(h, "/admin/settings", `{"acceptance_window_seconds":80}`) // so that the trail has a line

		key := fmt.Sprint("/admin/keys/", does("createKey", "/admin/keys", `{"label":"Till"}`, "key.create")["key_id"])
		does("updateKey", key, `{"label":"Till 2"}`, "key.update")
		does("rotateKey", key+"/rotate", `{"overlap_seconds":0}`, "key.rotate")
		does("revokeKey", key+"/revoke", `{}`, "key.revoke")

		user := fmt.Sprint("/admin/users/", does("createUser", "/admin/users", `{"login":"ada","name":"Ada","role":"editor"}`, "user.create")["user_id"])
		does("updateUser", user, `{"name":"Ada L"}`, "user.update")
		does("inviteUser", user+"/invite", `{}`, "user.invite")
		id, err := uuid.Parse(user[len("/admin/users/"):])
		require.NoError(t, err)
		require.NoError(t, administration.UsersOf(h.admin).SetSecondFactor(t.Context(), id, people.SecondFactor{Secret: []byte("a secret of 20 bytes")}))
		does("resetSecondFactor", user+"/reset-second-factor", `{}`, "user.reset_second_factor")
		h.enter("ben", "viewer", true)
		session := h.get("/admin/sessions").json(t)["data"].([]any)[0].(map[string]any)["session_id"]
		does("endSession", fmt.Sprint("/admin/sessions/", session, "/end"), `{}`, "session.end")
		does("disableUser", user+"/disable", `{}`, "user.disable")

		does("configureModule", "/admin/modules/contests", `{"enabled":true}`, "module.update")
		does("updateSettings", "/admin/settings", `{"acceptance_window_seconds":90}`, "settings.update")
		does("runJob", "/admin/jobs/answers/run", `{}`, "job.run")
		does("applyConfiguration plan", "/admin/configuration", `{"mode":"plan","configuration":{"settings":{"acceptance_window_seconds":91}}}`, "")
		does("applyConfiguration", "/admin/configuration", `{"mode":"apply","configuration":{"settings":{"acceptance_window_seconds":91}}}`, "settings.update")

		h.auditedWebhooks(t, does)
		h.auditedImports(does)

		for _, o := range everyOperation(t) {
			if o.api == "administration" && o.method == http.MethodPost {
				require.True(t, tried[o.OperationID], "%s was not tried", o.OperationID)
			}
		}

		for request := range unaudited {
			require.True(t, tried[request], request)
		}
	})
}

type doing = func(operation, target, body, action string) map[string]any

func (h *house) auditedWebhooks(t *testing.T, does doing) {
	h.enrol("member-1")
	h.add("member-1", "1")
	h.numbered()
	r, c := newReceiver(t), h.courier()
	hook := fmt.Sprint("/admin/webhooks/", does("createWebhook", "/admin/webhooks", `{"url":"`+r.URL+`/hook","types":["event.point_add"]}`, "webhook.create")["webhook_id"])
	does("updateWebhook", hook, `{"label":"CRM"}`, "webhook.update")
	does("testWebhook", hook+"/test", `{}`, "webhook.test")
	does("rotateWebhook", hook+"/rotate", `{"overlap_seconds":0}`, "webhook.rotate")
	does("pauseWebhook", hook+"/pause", `{}`, "webhook.pause")
	does("resumeWebhook", hook+"/resume", `{}`, "webhook.resume")
	r.status(http.StatusBadRequest)
	h.add("member-1", "2")
	c.run()
	kill := func() string {
		_, err := storetest.Raw(t, h.databaseURL).Exec("UPDATE deliveries SET state = 'dead', front = (1 = 0)")
		require.NoError(t, err)
		return fmt.Sprintf("%s/deliveries/%v", hook, h.deliveries(hook[len("/admin/webhooks/"):], "?state=dead")[0]["delivery"])
	}

	does("retryDelivery", kill()+"/retry", `{}`, "webhook.retry")
	kill()
	does("retryDeliveries", hook+"/deliveries/-/retry", `{}`, "webhook.retry")
	past := `{"from":"` + time.Now().Add(-time.Hour).UTC().Format(time.RFC3339) + `","to":"` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `"`
	does("replayWebhook dry_run", hook+"/replay", past+`,"dry_run":true}`, "")
	does("replayWebhook", hook+"/replay", past+`}`, "webhook.replay")
	does("removeWebhook", hook+"/remove", `{}`, "webhook.remove")
}

func (h *house) auditedImports(does doing) {
	path := fmt.Sprint("/admin/imports/", does("createImport", "/admin/imports", `{}`, "import.create")["import_id"])
	does("addImportFile", path+"/files", `{"file":"members","part":1,"content":"customer\nold-1\n"}`, "import.file")
	i := importing{h, path[len("/admin/imports/"):]}
	does("checkImport", path+"/check", `{}`, "import.check")
	i.runs("imports")
	does("applyImport", path+"/apply", `{}`, "import.apply")
	i.runs("imports")
	i.runs("bulk")
	does("reconcileImport", path+"/reconcile", `{}`, "import.reconcile")
}
