package server_test

import (
	"bufio"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/i18n"
	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/console"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	administration "github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/server/loyalty/user"
	"github.com/loyalty-platform/loyalty/server/ratelimit"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// openConsole is a house with a console.
func openConsole(t *testing.T, url string) *house {
	t.Helper()
	return openConsoleWith(t, url, func(*console.Options, *server.Options) {})
}

func openConsoleWith(t *testing.T, url string, change func(*console.Options, *server.Options)) *house {
	t.Helper()
	return openConsoleLimited(t, url, unlimited{}, change)
}

// openConsoleLimited is openConsoleWith whose requests are counted.
func openConsoleLimited(t *testing.T, url string, limiter ratelimit.Limiter, change func(*console.Options, *server.Options)) *house {
	t.Helper()

	return openOn(t, url, func(o *server.Options) {
		catalogue, err := i18n.Load()
		require.NoError(t, err)
		o.Limiter = limiter
		users := o.Reader.(*store.Store)
		o.Console = func(api http.Handler, peer func(*http.Request) (netip.Addr, bool)) (http.Handler, error) {
			c := console.Options{
				Users: user.New(users, nil), Catalogue: catalogue, Limiter: o.Limiter, Logger: slog.New(slog.DiscardHandler), API: api, Peer: peer,
				Proofs: administration.UsersOf(o.Admin),
			}
			change(&c, o)
			return console.New(c)
		}
	})
}

// visitor is a browser.
type visitor struct {
	*house
	login  string
	cookie string
	flow   string // the cookie of a way to the provider
	known  string // the cookie of a browser that has signed in
	mark   string // what the names of cookies begin with that go over TLS alone
}

// user makes a user and gives the token of their invitation.
func (p *house) user(login string, role loyalty.Role, personal bool) (token string) {
	p.t.Helper()
	call := administration.Call{KeyID: administration.CommandLine}
	_, err := administration.UsersOf(p.admin).Create(p.t.Context(), call, login, administration.UserChange{Role: &role, Personal: &personal})
	require.NoError(p.t, err)
	done, err := administration.UsersOf(p.admin).Invite(p.t.Context(), call, login, time.Hour)
	require.NoError(p.t, err)
	return done.Value.Token
}

// enter is a user who has signed in by a link.
func (p *house) enter(login string, role loyalty.Role, personal bool) *visitor {
	p.t.Helper()
	v := &visitor{house: p, login: login}
	a := v.post("/console/enter", `{"token":"`+p.user(login, role, personal)+`"}`)
	require.Equal(p.t, http.StatusOK, a.status, a.body)
	require.NotEmpty(p.t, v.cookie)
	return v
}

// ask sends a request as the console's pages do; headers may take ours away.
func (v *visitor) ask(method, target, body string, headers ...string) answer {
	v.t.Helper()
	r := v.request(method, target, body)
	if method != http.MethodGet {
		r.Header.Set("Content-Type", jsonType)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}

	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}

	if v.cookie != "" {
		r.AddCookie(&http.Cookie{Name: v.mark + "loyalty", Value: v.cookie})
	}
	if v.known != "" {
		r.AddCookie(&http.Cookie{Name: v.mark + "loyalty-browser", Value: v.known})
	}
	if v.flow != "" && strings.HasPrefix(target, "/console/oidc/") {
		r.AddCookie(&http.Cookie{Name: v.mark + "loyalty-oidc", Value: v.flow})
	}

	resp, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(v.t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(v.t, err)
	require.NoError(v.t, resp.Body.Close())
	for _, c := range resp.Cookies() {
		v.mark = ""
		path := "/console"
		if c.Secure {
			v.mark, path = "__Host-", "/"
		}

		switch c.Name {
		case v.mark + "loyalty-oidc":
			if !c.Secure {
				path += "/oidc"
			}
			require.Equal(v.t, []any{path, true, http.SameSiteLaxMode}, []any{c.Path, c.HttpOnly, c.SameSite})
			v.flow = c.Value
			continue
		case v.mark + "loyalty-browser":
			require.Equal(v.t, []any{path, true, http.SameSiteStrictMode}, []any{c.Path, c.HttpOnly, c.SameSite})
			v.known = c.Value
			continue
		}

		require.Equal(v.t, []any{v.mark + "loyalty", path, true, http.SameSiteStrictMode}, []any{c.Name, c.Path, c.HttpOnly, c.SameSite})
		v.cookie = c.Value
	}

	return answer{resp.StatusCode, resp.Header, string(text)}.note()
}

func (v *visitor) get(target string) answer {
	v.t.Helper()
	return v.ask(http.MethodGet, target, "")
}

func (v *visitor) post(target, body string, headers ...string) answer {
	v.t.Helper()
	return v.ask(http.MethodPost, target, body, headers...)
}

// took is what of an answer no two have in common.
var took = regexp.MustCompile(`"time":[0-9.e-]+`)

const bridged = "/console/api"

// TestRoleMatrix tries every operation of every document as a user of each role: those
// below its x-role are refused, the others let through to whatever it answers.
func TestRoleMatrix(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		p := openConsole(t, url)
		roles := []loyalty.Role{loyalty.RoleViewer, loyalty.RoleEditor, loyalty.RoleOperator, loyalty.RoleOwner}
		all := everyOperation(t)
		require.Greater(t, len(all), 100)
		for _, role := range roles {
			v := p.enter("a-"+string(role), role, true)
			for i := range all {
				o := &all[i]
				if o.OperationID == "followEvents" {
					continue // TestStreamEndsWithItsUser
				}

				least, _ := o.Extensions["x-role"].(string)
				a := v.ask(o.method, bridged+o.target(t), map[bool]string{true: "{}", false: ""}[o.method == http.MethodPost])
				where := string(role) + " " + o.OperationID + ": " + a.body
				if !role.Covers(loyalty.Role(least)) {
					require.Equal(t, http.StatusForbidden, a.status, where)
					require.Equal(t, 190640, a.fault(t).Code, where)
					continue
				}

				require.NotContains(t, []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusUnsupportedMediaType}, a.status, where)
				require.Less(t, a.status, 500, where)
			}
		}
	})
}

// TestBridgeAnswersAsTheAPI: what a user gets by the console is byte for byte what a key
// gets, and a change of theirs is in the audit trail under their name.
func TestBridgeAnswersAsTheAPI(t *testing.T) {
	p := openConsole(t, storetest.SQLite(t))
	p.enrol("member-1")
	v := p.enter("sample.owner", loyalty.RoleOwner, true)
	for _, target := range []string{"/admin/settings", "/admin/modules", "/entities/rewards/reward", "/customers/nobody", "/nowhere", "/customers/member-1/points", "/admin/keys/none", "/customers?limit=0"} {
		want, got := p.unchecked(http.MethodGet, target), v.get(bridged+target)
		assert.Equal(t, want.status, got.status, target)
		assert.Equal(t, took.ReplaceAllString(want.body, ""), took.ReplaceAllString(got.body, ""), target)
	}

	a := v.post(bridged+"/entities/stores/store", `{"id":"corner","name":"Corner"}`, "Idempotency-Key", "once")
	require.Equal(t, http.StatusCreated, a.status, a.body)
	again := v.post(bridged+"/entities/stores/store", `{"id":"corner","name":"Corner"}`, "Idempotency-Key", "once")
	require.Equal(t, a.body, again.body)
	require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	entry := v.get(bridged + "/admin/audit?limit=1").json(t)["data"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"user", "sample.owner"}, []any{entry["actor_kind"], entry["key_id"]})
	me := v.get(bridged + "/admin/me").json(t)["data"].(map[string]any)
	require.Equal(t, []any{"user", "sample.owner", "owner"}, []any{me["kind"], me["login"], me["role"]})
	require.Contains(t, me["operations"], "createKey")
	require.NotEmpty(t, a.header.Get("RateLimit-Limit"))
}

// TestConsoleIsNobodyElses: what another site could send, a request without a session and
// a cookie after the end of its session are refused.
func TestConsoleIsNobodyElses(t *testing.T) {
	p := openConsole(t, storetest.SQLite(t))
	v := p.enter("sample.owner", loyalty.RoleOwner, true)
	const store = `{"id":"s1","name":"S"}`
	for name, headers := range map[string][]string{
		"another site":  {"Sec-Fetch-Site", "cross-site"},
		"a sister site": {"Sec-Fetch-Site", "same-site"},
		"no origin":     {"Sec-Fetch-Site", ""},
		"other origin":  {"Sec-Fetch-Site", "", "Origin", "https://elsewhere.test"},
		"null origin":   {"Sec-Fetch-Site", "", "Origin", "null"},
	} {
		a := v.post(bridged+"/entities/stores/store", store, headers...)
		require.Equal(t, http.StatusForbidden, a.status, name)
		require.Equal(t, 190665, a.fault(t).Code, name)
	}

	for _, kind := range []string{formType, "text/plain", "multipart/form-data; boundary=x", ""} {
		for _, a := range []answer{v.post(bridged+"/entities/stores/store", store, "Content-Type", kind), v.post("/console/session", "{}", "Content-Type", kind)} {
			require.Equal(t, []any{http.StatusUnsupportedMediaType, 190675}, []any{a.status, a.fault(t).Code}, kind)
			require.Contains(t, a.body, "accepts only application/json")
		}
	}

	stranger := &visitor{house: p}
	a := stranger.get(bridged + "/admin/me")
	require.Equal(t, []any{http.StatusUnauthorized, 190660}, []any{a.status, a.fault(t).Code})
	a = stranger.ask(http.MethodGet, bridged+"/admin/me", "", "Authorization", "SERVICE-HMAC-SHA256 x")
	require.Equal(t, http.StatusUnauthorized, a.status, "the bridge knows sessions alone")
	r := p.request(http.MethodGet, "/admin/me", "", "Cookie", "loyalty="+v.cookie)
	require.Equal(t, http.StatusUnauthorized, p.send(r).status, "the API knows keys alone")

	stolen := &visitor{house: p, cookie: v.cookie}
	require.Equal(t, http.StatusOK, stolen.get(bridged+"/admin/me").status)
	require.Equal(t, http.StatusOK, v.post("/console/session/end", "{}").status)
	require.Equal(t, http.StatusUnauthorized, stolen.get(bridged+"/admin/me").status, "a cookie after sign-out")

	page := stranger.get("/console/")
	require.Equal(t, http.StatusOK, page.status)
	require.Contains(t, page.header.Get("Content-Security-Policy"), "trusted-types 'none'")
	require.NotContains(t, page.body, "HASH")
}

// TestConfirmAgain: what needs a fresh proof of who the user is gets one, for ten minutes.
func TestConfirmAgain(t *testing.T) {
	p := openConsole(t, storetest.SQLite(t))
	p.enrol("member-1")
	v := p.enter("sample.owner", loyalty.RoleOwner, true)
	require.Equal(t, http.StatusOK, v.post("/console/self/password", `{"password":"correct horse"}`).status)
	require.Equal(t, http.StatusCreated, v.post(bridged+"/admin/keys", `{"label":"x"}`).status, "who has just come in has proved it")
	p.forgetProof(v)
	for target, body := range map[string]string{
		"/admin/webhooks": `{"url":"https://crm.shop.test/hook","types":["event.opt_out"]}`, // whose secret is shown
		"/admin/keys":     `{"label":"x"}`, "/admin/users": `{"login":"x","role":"viewer"}`,
		"/events":              `{"customer":"member-1","action":"opt_out","data":{}}`,
		"/events/bulk":         `{"events":[{"customer":"member-1","action":"visit","data":{"url":"https://shop.test/"}},{"customer":"member-1","action":"opt_out","data":{}}]}`,
		"/admin/configuration": `{"mode":"apply","configuration":{}}`,
	} {
		a := v.post(bridged+target, body)
		require.Equal(t, []any{http.StatusForbidden, 190641}, []any{a.status, a.fault(t).Code}, target)
	}

	require.Equal(t, http.StatusOK, v.post(bridged+"/admin/configuration", `{"mode":"plan","configuration":{}}`).status)
	require.Equal(t, 190661, v.post("/console/session/confirm", `{"password":"wrong horse"}`).fault(t).Code)
	require.Equal(t, http.StatusOK, v.post("/console/session/confirm", `{"password":"correct horse"}`).status)
	require.Equal(t, http.StatusOK, v.post(bridged+"/events", `{"customer":"member-1","action":"opt_out","data":{}}`).status)

	editor := p.enter("sample.editor", loyalty.RoleEditor, true)
	require.Equal(t, http.StatusOK, editor.post(bridged+"/admin/configuration", `{"mode":"plan","configuration":{}}`).status)
	require.Equal(t, 190640, editor.post(bridged+"/admin/configuration", `{"mode":"apply","configuration":{}}`).fault(t).Code)
}

// forgetProof makes the last proof of a session older than ten minutes.
func (p *house) forgetProof(v *visitor) {
	p.t.Helper()
	s, _, ok, err := p.store.Session(p.t.Context(), user.HashToken(v.cookie))
	require.NoError(p.t, err)
	require.True(p.t, ok)
	s.ConfirmedAt = s.ConfirmedAt.Add(-user.ConfirmLife)
	require.NoError(p.t, p.store.SaveSession(p.t.Context(), s))
}

// TestCorrectionsNeedAReason: a user who gives or takes points says why; a key need not.
func TestCorrectionsNeedAReason(t *testing.T) {
	p := openConsole(t, storetest.SQLite(t))
	p.enrol("member-1")
	v := p.enter("sample.operator", loyalty.RoleOperator, true)
	a := v.post(bridged+"/events", `{"customer":"member-1","action":"point_add","data":{"points":5}}`)
	require.Equal(t, []any{http.StatusUnprocessableEntity, 190642, []string{"data.reason"}}, []any{a.status, a.fault(t).Code, a.fault(t).fields()})
	require.Equal(t, 190642, v.post(bridged+"/events/bulk", `{"events":[{"customer":"member-1","action":"point_sub","data":{"points":5,"reason":""}}]}`).fault(t).Code)
	require.Equal(t, http.StatusOK, v.post(bridged+"/events/preview", `{"customer":"member-1","action":"point_add","data":{"points":5}}`).status)
	require.Equal(t, http.StatusOK, v.post(bridged+"/events", `{"customer":"member-1","action":"point_add","data":{"points":5,"reason":"Apology"}}`).status)
	require.Equal(t, http.StatusOK, p.post("/events", `{"customer":"member-1","action":"point_add","data":{"points":5}}`).status)
}

// TestStreamEndsWithItsUser: a user who is shut out reads no further.
func TestStreamEndsWithItsUser(t *testing.T) {
	p := openConsole(t, storetest.SQLite(t))
	v := p.enter("sample.viewer", loyalty.RoleViewer, false)
	r := p.request(http.MethodGet, bridged+"/events/feed", "", "Accept", "text/event-stream", "Cookie", "loyalty="+v.cookie)
	resp, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	lines := bufio.NewScanner(resp.Body)
	done(p, "/events", `{"customer":"member-1","action":"opt_in","data":{"email":"canary@shop.test"}}`)
	p.numbered()
	require.Eventually(t, func() bool { return lines.Scan() && strings.HasPrefix(lines.Text(), "data:") }, time.Minute, time.Millisecond)
	require.NotContains(t, lines.Text(), "canary")
	require.Equal(t, http.StatusOK, p.post("/admin/users/sample.viewer/disable", "").status)
	for lines.Scan() {
	} // it ends

	require.Equal(t, http.StatusUnauthorized, v.get(bridged+"/admin/me").status)
}
