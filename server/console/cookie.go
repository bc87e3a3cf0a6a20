package console

import (
	"net/http"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty/user"
)

// cookie is one of the console's cookies. Over TLS its name begins with __Host-: a browser takes such a
// cookie from this very host alone, for all paths and with Secure, so that no neighbouring host can plant
// one. On plain http, from this machine alone, browsers refuse such names.
type cookie struct {
	name string
	path string // on plain http
	age  int    // seconds
	site http.SameSite
}

// The console's cookies.
var (
	sessionCookie = cookie{"loyalty", "/console", int(user.SessionLife.Seconds()), http.SameSiteStrictMode}
	browserCookie = cookie{"loyalty-browser", "/console", int(user.BrowserLife.Seconds()), http.SameSiteStrictMode}
	wayCookie     = cookie{"loyalty-oidc", root + "oidc", int(wayLife.Seconds()), http.SameSiteLaxMode}
)

// hostOnly is what the names of cookies begin with that go over TLS alone.
const hostOnly = "__Host-"

// closed reports whether the way of a request is closed to others.
func (c *console) closed(r *http.Request) bool {
	_, ok := c.secure(r)
	return ok
}

// secure reports whether cookies go over TLS alone; ok is false if the way is open to others. A proxy on
// this machine that tells nothing of its callers looks like this machine: where people come by TLS,
// as the console's address says, no cookie is made that goes over an open line.
func (c *console) secure(r *http.Request) (secure, ok bool) {
	source, secure := c.Peer(r)
	secure = secure || source.IsLoopback() && strings.HasPrefix(c.URL, "https://")
	return secure, secure || source.IsLoopback()
}

// cookie returns the value of a cookie that the browser sent; empty: none.
func (c *console) cookie(r *http.Request, of cookie) string {
	secure, ok := c.secure(r)
	if !ok {
		return ""
	}
	name := of.name
	if secure {
		name = hostOnly + name
	}
	sent, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return sent.Value
}

// setCookie sends a cookie; an empty value takes it back.
func (c *console) setCookie(w http.ResponseWriter, r *http.Request, of cookie, value string) {
	secure, _ := c.secure(r)
	name, path, age := of.name, of.path, of.age
	if secure {
		name, path = hostOnly+name, "/"
	}
	if value == "" {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: path, MaxAge: age, HttpOnly: true, Secure: secure, SameSite: of.site})
}

// token is the session's, as the browser sent it.
func (c *console) token(r *http.Request) string { return c.cookie(r, sessionCookie) }
