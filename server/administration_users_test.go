package server_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	administration "github.com/loyalty-platform/loyalty/server/loyalty/admin"
	"github.com/loyalty-platform/loyalty/store/storetest"
)

// TestUsersNeedAWholeKey: a key with limited rights makes no user and changes none in any way: who is
// let in again, or loses their second factor, may have more rights than the key.
func TestUsersNeedAWholeKey(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, url string) {
		p := openConsole(t, url)
		p.user("first.owner", loyalty.RoleOwner, true)
		p.user("second.owner", loyalty.RoleOwner, true)
		p.user("out", loyalty.RoleOwner, true)
		require.Equal(t, http.StatusOK, p.post("/admin/users/out/disable", `{"disabled":true}`).status)
		limited := p.newKey(administration.KeyChange{APIs: &[]string{"administration"}})
		before := p.get("/admin/users").json(t)["data"]
		for target, body := range map[string]string{
			"/admin/users":                                  `{"login":"third.owner","role":"owner"}`,
			"/admin/users/first.owner":                      `{"name":"Another"}`,
			"/admin/users/first.owner/invite":               `{}`,
			"/admin/users/first.owner/disable":              `{"disabled":true}`,
			"/admin/users/out/disable":                      `{"disabled":false}`,
			"/admin/users/second.owner/reset-second-factor": `{}`,
		} {
			a := p.signed(limited, p.request(http.MethodPost, target, body, "Content-Type", jsonType))
			require.Equal(t, []any{http.StatusForbidden, 190320}, []any{a.status, a.fault(t).Code}, "%s %s", target, body)
		}

		require.Equal(t, before, p.get("/admin/users").json(t)["data"])
		require.Equal(t, http.StatusOK, p.post("/admin/users/out/disable", `{"disabled":false}`).status, "a key that may do everything")
	})
}
