package server_test

import (
	"fmt"
	"net/http"
	"strings"
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

// gate is a console whose clock is set by hand, and its users.
type gate struct {
	*house
	users *user.Users
	now   time.Time
}

func openGate(t *testing.T, url string) *gate {
	t.Helper()
	g := &gate{now: time.Now().Truncate(time.Millisecond)}
	g.house = openConsoleWith(t, url, func(c *console.Options, o *server.Options) {
		g.users = user.New(o.Reader.(*store.Store), func() time.Time { return g.now })
		c.Users = g.users
	})
	return g
}

const rightPassword, wrongPassword = "correct horse", "wrong horse"

// from tries a password from an address, perhaps by a known browser.
func (g *gate) from(address, browser, password string) (user.Entry, error) {
	g.t.Helper()
	return g.users.SignIn(g.t.Context(), "sample.owner", password, "", user.From{Address: address, Browser: browser})
}

// owner is a user with a password, who has signed in.
func (g *gate) owner() *visitor {
	g.t.Helper()
	v := g.enter("sample.owner", loyalty.RoleOwner, true)
	require.Equal(g.t, http.StatusOK, v.post("/console/self/password", `{"password":"`+rightPassword+`"}`).status)
	return v
}

// TestStrangerKeepsNobodyOut: one wrong password each three seconds makes the stranger's own network
// wait and no other; a browser that has signed in before passes the wait even there.
func TestStrangerKeepsNobodyOut(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		g := openGate(t, url)
		known := g.owner().known
		require.NotEmpty(t, known)
		stored, _, err := g.store.UserByLogin(t.Context(), "sample.owner")
		require.NoError(t, err)
		require.NotContains(t, fmt.Sprint(stored), known, "a hash is kept")

		refused := map[error]int{}
		for range 140 {
			g.now = g.now.Add(3 * time.Second)
			_, err := g.from("203.0.113.9", "", wrongPassword)
			refused[err]++
			if err == user.ErrSignIn || refused[user.ErrSlow]%10 != 1 { //nolint:errorlint // a refusal of its own
				continue
			}

			_, err = g.from("203.0.113.200", "", rightPassword)
			require.ErrorIs(t, err, user.ErrSlow, "the same network")
			_, err = g.from("198.51.100.7", "", rightPassword)
			require.NoError(t, err, "another network")
			e, err := g.from("203.0.113.9", known, rightPassword)
			require.NoError(t, err, "a browser that has signed in before")
			require.NotEqual(t, known, e.Browser)
			known = e.Browser
		}

		require.LessOrEqual(t, refused[user.ErrSignIn], 15, "%v", refused)
		_, err = g.from("2001:db8:0:1::7", "", rightPassword)
		require.NoError(t, err)

		v := &visitor{house: g.house, known: known}
		require.Equal(t, http.StatusOK, v.post("/console/session", `{"login":"sample.owner","password":"correct horse"}`).status)
		require.NotEqual(t, known, v.known)
	})
}

// TestGuessesOfManyNetworks: a flood from many networks has a bound too, which fades, and which a
// known browser passes.
func TestGuessesOfManyNetworks(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		g := openGate(t, url)
		known := g.owner().known
		g.change(func(u *loyalty.User) { // what a flood has left
			u.Tries = []loyalty.Tries{{Failures: 97, At: g.now}}
			for n := range 60 {
				u.Tries = append(u.Tries, loyalty.Tries{Network: fmt.Sprintf("203.0.%d.0/24", n), Failures: 1, At: g.now})
			}
		})

		for n := range 3 {
			_, err := g.from(fmt.Sprintf("203.1.%d.9", n), "", wrongPassword)
			require.ErrorIs(t, err, user.ErrSignIn)
		}

		_, err := g.from("198.51.100.7", "", rightPassword)
		require.ErrorIs(t, err, user.ErrSlow)
		e, err := g.from("198.51.100.7", known, rightPassword)
		require.NoError(t, err)
		g.now = g.now.Add(5 * time.Minute)
		_, err = g.from("198.51.100.8", "", rightPassword)
		require.NoError(t, err, "failures fade")

		after, _, err := g.store.UserByLogin(t.Context(), "sample.owner")
		require.NoError(t, err)
		require.LessOrEqual(t, len(after.Tries), 50)
		require.NotEmpty(t, e.Browser)
	})
}

// change changes the user as the database has them.
func (g *gate) change(change func(*loyalty.User)) {
	g.t.Helper()
	u, _, err := g.store.UserByLogin(g.t.Context(), "sample.owner")
	require.NoError(g.t, err)
	_, err = g.store.ChangeUser(g.t.Context(), u.ID, func(u *loyalty.User) error { change(u); return nil })
	require.NoError(g.t, err)
}

// TestKnownBrowserHasTenTries: the cookie of a known browser is good for ten failures, which fade, for its
// own user, and for ninety days; a new password, another role, being shut out and signing out everywhere
// end it.
func TestKnownBrowserHasTenTries(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		g := openGate(t, url)
		v := g.owner()
		g.enter("second.owner", loyalty.RoleOwner, true)
		const here = "203.0.113.9"
		slow := func(browser string) bool {
			_, err := g.from(here, browser, rightPassword)
			return err == user.ErrSlow //nolint:errorlint // a refusal of its own
		}

		block := func() {
			g.change(func(u *loyalty.User) {
				u.Tries = []loyalty.Tries{{Network: "203.0.113.0/24", Failures: 20, At: g.now, Until: g.now.Add(5 * time.Minute)}}
			})
		}

		block()
		for range 10 {
			_, err := g.from(here, v.known, wrongPassword)
			require.ErrorIs(t, err, user.ErrSignIn)
		}

		_, err := g.from(here, v.known, rightPassword)
		require.ErrorIs(t, err, user.ErrSlow, "ten failures")
		g.now = g.now.Add(10 * time.Minute)
		block()
		require.False(t, slow(v.known), "one has faded")

		other := g.enter("sample.editor", loyalty.RoleEditor, false)
		block()
		require.True(t, slow(other.known), "another user's browser")
		require.True(t, slow("x"))
		signIn := func() *visitor {
			v := &visitor{house: g.house}
			g.now = g.now.Add(6 * time.Minute)
			require.Equal(t, http.StatusOK, v.post("/console/session", `{"login":"sample.owner","password":"correct horse"}`).status)
			return v
		}

		for name, end := range map[string]func(v *visitor){
			"a new password": func(v *visitor) {
				mine := *v
				require.Equal(t, http.StatusOK, mine.post("/console/self/password", `{"password":"correct horse"}`).status)
				block()
				require.False(t, slow(mine.known), "the browser that chose it")
			},
			"another role": func(*visitor) {
				require.Equal(t, http.StatusOK, g.post("/admin/users/sample.owner", `{"personal":false}`).status)
			},
			"shut out": func(*visitor) {
				require.Equal(t, http.StatusOK, g.post("/admin/users/sample.owner/disable", "").status)
				require.Equal(t, http.StatusOK, g.post("/admin/users/sample.owner/disable", `{"disabled":false}`).status)
			},
			"everywhere": func(v *visitor) {
				mine := *v
				require.Equal(t, http.StatusOK, mine.post("/console/session/end", `{"everywhere":true}`).status)
			},
			"ninety days": func(*visitor) { g.now = g.now.Add(90 * 24 * time.Hour) },
		} {
			t.Run(name, func(t *testing.T) {
				v := signIn()
				end(v)
				block()
				require.True(t, slow(v.known))
			})
		}
	})
}

// TestLinksKeepTheSession: a one-time link that is opened where a user is signed in changes nothing there,
// and is good afterwards.
func TestLinksKeepTheSession(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		p := openConsole(t, url)
		v := p.enter("sample.owner", loyalty.RoleOwner, true)
		token := p.user("sample.viewer", loyalty.RoleViewer, false)
		a := v.post("/console/enter", `{"token":"`+token+`"}`)
		require.Equal(t, []any{http.StatusConflict, 190860}, []any{a.status, a.fault(t).Code})
		require.True(t, strings.Contains(a.body, "sample.owner"))
		require.Equal(t, "sample.owner", v.me()["login"])
		require.Equal(t, http.StatusOK, v.post("/console/session/end", `{}`).status)
		require.Equal(t, http.StatusOK, v.post("/console/enter", `{"token":"`+token+`"}`).status)
		require.Equal(t, "sample.viewer", v.me()["login"])
	})
}
