package server_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestWebhooksOfUsers: personal data leaves by a webhook only if a user who may see it says so, with
// a fresh proof of who they are.
func TestWebhooksOfUsers(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		p := openConsole(t, url)
		p.enrol("member-1")
		r := newReceiver(t)
		plain := bridged + "/admin/webhooks/" + p.hook(r, `["event.*"]`, "")
		full := bridged + "/admin/webhooks/" + p.hook(r, `["event.*"]`, `,"include":["personal"],"confirm_personal":true`)
		sees, not := p.enter("owner.sees", loyalty.RoleOwner, true), p.enter("owner.sees-not", loyalty.RoleOwner, false)
		operator := p.enter("operator.sees-not", loyalty.RoleOperator, false)
		const personally = `"include":["personal"],"confirm_personal":true`
		creation := `{"url":"` + r.URL + `","types":["event.*"],` + personally + `}`
		for _, refused := range []struct {
			v            *visitor
			target, body string
		}{
			{not, bridged + "/admin/webhooks", creation},
			{not, plain, `{` + personally + `}`},
			{not, full, `{"label":"mine","url":"` + r.URL + `/elsewhere","confirm_personal":true}`},
			{not, full, `{"types":["event.opt_in"]}`},
			{not, full + "/replay", `{"from_sequence":1}`},
			{operator, full + "/replay", `{"from_sequence":1}`},
		} {
			a := refused.v.post(refused.target, refused.body)
			require.Equal(t, []any{http.StatusForbidden, 190651}, []any{a.status, a.fault(t).Code}, refused.target+refused.body)
		}

		for _, allowed := range []struct {
			v            *visitor
			target, body string
		}{
			{not, plain, `{"label":"CRM"}`},
			{not, plain + "/replay", `{"from_sequence":1}`},
			{operator, full + "/replay", `{"from_sequence":1,"dry_run":true}`},
			{operator, full + "/test", `{}`},
			{sees, plain, `{` + personally + `}`},
			{sees, full + "/replay", `{"from_sequence":1}`},
			{not, full, `{"include":[]}`},
		} {
			a := allowed.v.post(allowed.target, allowed.body)
			require.Less(t, a.status, 300, allowed.target+a.body)
		}

		p.forgetProof(sees)
		for target, body := range map[string]string{bridged + "/admin/webhooks": creation, plain: `{"label":"CRM"}`, plain + "/rotate": `{}`, plain + "/remove": `{}`} {
			a := sees.post(target, body)
			require.Equal(t, []any{http.StatusForbidden, 190641}, []any{a.status, a.fault(t).Code}, target)
		}
	})
}

// TestWebhookAnswersArePersonal: what a receiver answers may say anything, what it was sent among it.
func TestWebhookAnswersArePersonal(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		p := openConsole(t, url)
		r, c := newReceiver(t), p.courier()
		id := p.hook(r, `["event.opt_in"]`, `,"include":["personal"],"confirm_personal":true`)
		r.says(func(w http.ResponseWriter, m *received) bool {
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, m.body)
			return false
		})

		done(p, "/events", `{"customer":"member-1","action":"opt_in","data":{"email":"canary@shop.test"}}`)
		c.run()
		target := "/admin/webhooks/" + id + "/deliveries/1"
		answered := func(a answer) any { return data(t, a)["log"].([]any)[0].(map[string]any)["answer"] }
		require.Contains(t, answered(p.get(target)), "canary@shop.test")
		sees, not := p.enter("sees", loyalty.RoleOperator, true), p.enter("sees-not", loyalty.RoleOperator, false)
		require.Contains(t, answered(sees.ask(http.MethodGet, bridged+target, "", "X-Personal-Data", "show")), "canary@shop.test")
		for _, v := range []*visitor{sees, not} {
			a := v.get(bridged + target)
			require.Equal(t, "•••", answered(a), v.login)
			require.NotContains(t, a.body, "canary@shop.test", v.login)
		}

		limited := p.newKey(admin.KeyChange{APIs: &[]string{"administration"}})
		a := p.signed(limited, p.request(http.MethodGet, target, ""))
		require.Nil(t, answered(a), "as the message")
		require.NotContains(t, a.body, "canary@shop.test")
	})
}

// TestWebhooksOfLimitedKeys: a key that may not read what webhooks tell changes none and has nothing
// sent.
func TestWebhooksOfLimitedKeys(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		h := openOn(t, url, patient)
		h.enrol("member-1")
		r := newReceiver(t)
		path := "/admin/webhooks/" + h.hook(r, `["event.*"]`, "")
		for _, missing := range []struct {
			apis []string
			api  string
		}{{[]string{"administration"}, "events"}, {[]string{"administration", "events"}, "display"}} {
			key := h.newKey(admin.KeyChange{APIs: &missing.apis})
			for target, body := range map[string]string{
				"/admin/webhooks": `{"url":"` + r.URL + `","types":["event.*"]}`, path: `{"label":"x"}`,
				path + "/rotate": `{}`, path + "/pause": `{}`, path + "/resume": `{}`, path + "/remove": `{}`, path + "/test": `{}`, path + "/replay": `{"from_sequence":1}`,
				path + "/deliveries/-/retry": `{}`, path + "/deliveries/1/retry": `{}`,
			} {
				a := h.signed(key, h.request(http.MethodPost, target, body, "Content-Type", jsonType))
				require.Equal(t, http.StatusForbidden, a.status, target+a.body)
				require.Equal(t, 190064, a.fault(t).Code, target)
				require.Contains(t, a.body, "may not use the API "+missing.api, target)
			}
			require.Equal(t, http.StatusOK, h.signed(key, h.request(http.MethodGet, path, "")).status)
		}

		require.Equal(t, "active", data(t, h.get(path))["state"])
		may := h.newKey(admin.KeyChange{APIs: &[]string{"administration", "events", "display"}})
		require.Equal(t, http.StatusOK, h.signed(may, h.request(http.MethodPost, path+"/rotate", `{}`, "Content-Type", jsonType)).status)
	})
}
