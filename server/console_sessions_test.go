package server_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server"
	"github.com/loyalty-platform/loyalty/server/console"
	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/user"
	"github.com/loyalty-platform/loyalty/store"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestLinksAndPasswords: a link is good once; then a password, a second factor whose codes
// work once, recovery codes, and a wait after many that failed.
func TestLinksAndPasswords(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		p := openConsole(t, url)
		token := p.user("sample.owner", loyalty.RoleOwner, true)
		v := &visitor{house: p}
		require.Equal(t, http.StatusOK, v.post("/console/enter", `{"token":"`+token+`"}`).status)
		other := &visitor{house: p}
		require.Equal(t, 190664, other.post("/console/enter", `{"token":"`+token+`"}`).fault(t).Code)
		require.Equal(t, 190664, other.post("/console/enter", `{"token":""}`).fault(t).Code)

		require.Equal(t, 190648, v.post("/console/self/password", `{"password":"short"}`).fault(t).Code)
		require.Equal(t, http.StatusOK, v.post("/console/self/password", `{"password":"correct horse"}`).status)
		require.Equal(t, 190661, other.post("/console/session", `{"login":"sample.owner","password":"wrong horse"}`).fault(t).Code)
		require.Equal(t, 190661, other.post("/console/session", `{"login":"nobody","password":"correct horse"}`).fault(t).Code)
		require.Equal(t, http.StatusOK, other.post("/console/session", `{"login":" Sample.Owner ","password":"correct horse"}`).status)

		enrolment := v.post("/console/self/totp", `{}`).json(t)
		secret := enrolment["secret"].(string)
		require.Contains(t, enrolment["uri"], "otpauth://totp/")
		require.Equal(t, 190650, v.post("/console/self/totp", `{"secret":"`+secret+`","code":"000000"}`).fault(t).Code)
		enrolled := time.Now() // another half minute may begin any moment, and has another code
		used := codeOf(t, secret, enrolled)
		a := v.post("/console/self/totp", `{"secret":"`+secret+`","code":"`+used+`"}`)
		require.Equal(t, http.StatusOK, a.status, a.body)
		recovery := a.json(t)["recovery"].([]any)
		require.Len(t, recovery, 10)

		sign := func(code string) answer {
			return (&visitor{house: p}).post("/console/session", `{"login":"sample.owner","password":"correct horse","code":"`+code+`"}`)
		}
		require.Equal(t, 190662, sign("").fault(t).Code, "the second factor is asked for")
		require.Equal(t, 190661, sign(used).fault(t).Code, "a code works once")
		require.Equal(t, http.StatusOK, sign(recovery[0].(string)).status)
		require.Equal(t, 190661, sign(recovery[0].(string)).fault(t).Code, "so does a recovery code")
		require.Equal(t, http.StatusOK, sign(codeOf(t, secret, enrolled.Add(30*time.Second))).status)

		for range 6 {
			other.post("/console/session", `{"login":"sample.owner","password":"wrong horse"}`)
		}

		a = other.post("/console/session", `{"login":"sample.owner","password":"correct horse"}`)
		require.Equal(t, []any{http.StatusTooManyRequests, 190663}, []any{a.status, a.fault(t).Code}, "a wait after many that failed")

		rows := p.get("/admin/users").json(t)["data"].([]any)
		me := rows[0].(map[string]any)
		require.Equal(t, []any{true, true}, []any{me["password"], me["second_factor"]})
		trail := p.get("/admin/audit?limit=100").body
		require.Contains(t, trail, `{"action":"user.set_password","actor_kind":"user","after":{"password":true},`)
		require.Contains(t, trail, `"before":{"password":false},"key_id":"sample.owner","target":"sample.owner"`)
		require.Contains(t, trail, `{"action":"user.set_second_factor","actor_kind":"user","after":{"second_factor":true},`)
		require.Equal(t, 1, strings.Count(trail, "user.set_second_factor"), "a wrong code sets nothing up")
		require.NotContains(t, p.get("/admin/users").body+trail, secret)
		require.NotContains(t, trail, "argon2")
		require.Equal(t, http.StatusOK, p.post("/admin/users/sample.owner/reset-second-factor", "").status)
		require.Equal(t, http.StatusUnauthorized, v.get(bridged+"/admin/me").status, "its sessions end with it")
	})
}

// TestSignInsAtOnce: of many who sign in at once, all are answered, and beyond those who
// may wait some are told to come back.
func TestSignInsAtOnce(t *testing.T) {
	p := openConsole(t, storetest.SQLite(t))
	var wait sync.WaitGroup
	answers := make(chan answer, 60)
	for range cap(answers) {
		wait.Go(func() {
			answers <- (&visitor{house: p}).post("/console/session", `{"login":"nobody","password":"wrong horse"}`)
		})
	}

	wait.Wait()
	close(answers)
	codes := map[int]int{}
	for a := range answers {
		code := a.fault(t).Code
		codes[code]++
		if code == 190667 {
			require.Equal(t, []any{http.StatusServiceUnavailable, "5"}, []any{a.status, a.header.Get("Retry-After")})
		}
	}

	require.NotZero(t, codes[190661])
	require.NotZero(t, codes[190667])
	require.Equal(t, cap(answers), codes[190661]+codes[190667]+codes[190663], "%v", codes) // the login is slowed down meanwhile
}

// TestSessionsEndTogether: a new password, a second factor and a new link end the sessions
// that began before, and a user can end all of theirs.
func TestSessionsEndTogether(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		p := openConsole(t, url)
		mine := p.enter("sample.owner", loyalty.RoleOwner, true)
		sign := func() *visitor {
			v := &visitor{house: p}
			require.Equal(t, http.StatusOK, v.post("/console/session", `{"login":"sample.owner","password":"correct horse"}`).status)
			require.NotEqual(t, mine.cookie, v.cookie)
			return v
		}

		status := func(v *visitor) int { return v.get(bridged + "/admin/me").status }
		require.Equal(t, http.StatusOK, mine.post("/console/self/password", `{"password":"correct horse"}`).status)
		other := sign()
		require.Equal(t, http.StatusOK, mine.post("/console/self/password", `{"password":"correct horse"}`).status)
		require.Equal(t, []int{http.StatusOK, http.StatusUnauthorized}, []int{status(mine), status(other)}, "a new password")
		other = sign()
		require.Equal(t, http.StatusOK, other.post("/console/session/end", `{"everywhere":true}`).status)
		require.Equal(t, []int{http.StatusUnauthorized, http.StatusUnauthorized}, []int{status(mine), status(other)}, "everywhere")

		mine = sign()
		old := mine.cookie
		require.Equal(t, http.StatusOK, mine.post("/console/session", `{"login":"sample.owner","password":"correct horse"}`).status)
		require.NotEqual(t, old, mine.cookie, "no cookie outlives a sign-in")
		require.Equal(t, http.StatusUnauthorized, status(&visitor{house: p, cookie: old}))
		other = sign()
		secret := mine.post("/console/self/totp", `{}`).json(t)["secret"].(string)
		require.Equal(t, http.StatusOK, mine.post("/console/self/totp", `{"secret":"`+secret+`","code":"`+codeOf(t, secret, time.Now())+`"}`).status)
		require.Equal(t, []int{http.StatusOK, http.StatusUnauthorized}, []int{status(mine), status(other)}, "a second factor")

		// Whoever has a session must not choose the password that an owner's new link asks for.
		require.Equal(t, http.StatusOK, p.post("/admin/users/sample.owner/invite", "").status)
		require.Equal(t, http.StatusUnauthorized, mine.post("/console/self/password", `{"password":"stolen horse"}`).status)
	})
}

// TestNewLinkEndsTheOld: who came by an earlier link and chose no password yet is out once an owner
// makes another one, on every node, and cannot take the account.
func TestNewLinkEndsTheOld(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		p := openConsole(t, url)
		thief := p.enter("sample.owner", loyalty.RoleOwner, true)
		path := p.post("/admin/users/sample.owner/invite", "").json(t)["data"].(map[string]any)["path"].(string)
		require.Equal(t, http.StatusUnauthorized, thief.get(bridged+"/admin/me").status)

		v := &visitor{house: p}
		_, token, _ := strings.Cut(path, "#enter/")
		require.Equal(t, http.StatusOK, v.post("/console/enter", `{"token":"`+token+`"}`).status)
		require.Equal(t, 190660, thief.post("/console/self/password", `{"password":"stolen horse"}`).fault(t).Code)
		require.Equal(t, http.StatusOK, v.post("/console/self/password", `{"password":"correct horse"}`).status)
	})
}

// TestSessionsThatAreOver: one that is over proves nothing, and opens nothing.
func TestSessionsThatAreOver(t *testing.T) {
	p := openConsole(t, storetest.SQLite(t))
	v := p.enter("sample.owner", loyalty.RoleOwner, true)
	require.Equal(t, http.StatusOK, v.post("/console/self/password", `{"password":"correct horse"}`).status)
	s, _, ok, err := p.store.Session(t.Context(), user.HashToken(v.cookie))
	require.NoError(t, err)
	require.True(t, ok)
	s.SeenAt = s.SeenAt.Add(-user.IdleLife - time.Minute)
	require.NoError(t, p.store.SaveSession(t.Context(), s))
	for _, target := range []string{"/console/session/confirm", "/console/self/totp", "/console/self/password"} {
		require.Equal(t, 190660, v.post(target, `{"password":"correct horse"}`).fault(t).Code, target)
	}
	require.Equal(t, http.StatusUnauthorized, v.get(bridged+"/admin/me").status)
}

// openStill is a console whose clock stands still: no wait ends.
func openStill(t *testing.T, url string) *house {
	t.Helper()
	now := time.Now()
	return openConsoleWith(t, url, func(c *console.Options, o *server.Options) {
		c.Users = user.New(o.Reader.(*store.Store), func() time.Time { return now })
	})
}

// TestUnknownLoginsWaitToo: a login that no user has, or whose user is shut out, is told as one with a
// wrong password, in the answer, in its time, and in the wait after many.
func TestUnknownLoginsWaitToo(t *testing.T) {
	p := openStill(t, storetest.SQLite(t))
	v := p.enter("sample.owner", loyalty.RoleOwner, true)
	require.Equal(t, http.StatusOK, v.post("/console/self/password", `{"password":"correct horse"}`).status)
	out := p.enter("out", loyalty.RoleEditor, false)
	require.Equal(t, http.StatusOK, out.post("/console/self/password", `{"password":"right horse"}`).status)
	require.Equal(t, http.StatusOK, p.post("/admin/users/out/disable", "").status)
	var codes [3][]int
	for n, sent := range []string{`{"login":"sample.owner","password":"wrong horse"}`, `{"login":"nobody","password":"wrong horse"}`, `{"login":"out","password":"right horse"}`} {
		for range 7 {
			began := time.Now()
			a := (&visitor{house: p}).post("/console/session", sent)
			codes[n] = append(codes[n], a.fault(t).Code)
			if a.status == http.StatusUnauthorized {
				require.GreaterOrEqual(t, time.Since(began), 250*time.Millisecond)
			}
		}
	}

	require.Equal(t, []int{190661, 190661, 190661, 190661, 190661, 190661, 190663}, codes[0])
	require.Equal(t, codes[0], codes[1], "unknown")
	require.Equal(t, codes[0], codes[2], "shut out, with the right password")
	require.Equal(t, http.StatusOK, p.post("/admin/users/out/disable", `{"disabled":false}`).status)
	require.Equal(t, http.StatusOK, out.post("/console/session", `{"login":"out","password":"right horse"}`).status, "let in again, they need not wait")
}

// TestLockHoldsForAllAtOnce: guesses that arrive together are counted one by one.
func TestLockHoldsForAllAtOnce(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		p := openStill(t, url)
		v := p.enter("sample.owner", loyalty.RoleOwner, true)
		require.Equal(t, http.StatusOK, v.post("/console/self/password", `{"password":"correct horse"}`).status)
		var wait sync.WaitGroup
		answers := make(chan int, 20)
		for range cap(answers) {
			wait.Go(func() {
				a := (&visitor{house: p}).post("/console/session", `{"login":"sample.owner","password":"wrong horse"}`)
				answers <- a.fault(t).Code
			})
		}

		wait.Wait()
		close(answers)
		codes := map[int]int{}
		for code := range answers {
			codes[code]++
		}

		require.Equal(t, 6, codes[190661], "five are free, after the sixth all wait: %v", codes)
	})
}

// TestCodeAloneEndsTheCount: who proves by a code alone who they are has the next tries free again, as
// after a password.
func TestCodeAloneEndsTheCount(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		p := openStill(t, url)
		v := p.enter("sample.owner", loyalty.RoleOwner, true)
		secret := v.post("/console/self/totp", `{}`).json(t)["secret"].(string)
		a := v.post("/console/self/totp", `{"secret":"`+secret+`","code":"`+codeOf(t, secret, time.Now())+`"}`)
		require.Equal(t, http.StatusOK, a.status, a.body)
		recovery := a.json(t)["recovery"].([]any)
		confirm := func(code string) answer { return v.post("/console/session/confirm", `{"code":"`+code+`"}`) }
		for _, code := range recovery[:2] {
			for range 5 {
				require.Equal(t, 190661, confirm("none").fault(t).Code)
			}
			require.Equal(t, http.StatusOK, confirm(code.(string)).status)
		}

		for range 6 {
			require.Equal(t, 190661, confirm("none").fault(t).Code)
		}

		require.Equal(t, 190663, confirm(recovery[2].(string)).fault(t).Code, "a wait after many that failed")
	})
}

// codeOf is what an authenticator app shows.
func codeOf(t *testing.T, secret string, at time.Time) string {
	t.Helper()
	code, err := user.CodeAt(secret, at)
	require.NoError(t, err)
	return code
}
