package console

import (
	"net/http"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty/user"
)

// cookie is one of the console's cookies. Over TLS its name begins with __Host-: a browser accepts such a cookie only
// from this host, for all paths and with Secure, so that no neighbouring host can plant one. On plain http, which only
// this machine may use, browsers refuse such names.
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

// hostOnly is the prefix of the names of cookies that are sent only over TLS.
const hostOnly = "__Host-"

// closed reports whether the connection of a request is safe from others.
func (c *console) closed(r *http.Request) bool {
	_, ok := c.secure(r)
	return ok
}

// secure reports whether cookies are sent only over TLS; ok is false if others can read the connection. A proxy on this
// machine that does not forward its callers' addresses looks like this machine. So if the console's address is https,
// every cookie needs TLS.
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

// setCookie sends a cookie; an empty value deletes it.
func (c *console) setCookie(w http.ResponseWriter, r *http.Request, of cookie, value string) {
	secure, _ := c.secure(r)
	name, path, age := of.name, of.path, of.age
	if secure {
		name, path = hostOnly+name, "/"
	}
	if value == "" {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: path, MaxAge: age, HttpOnly: true,
		Secure: secure, SameSite: of.site})
}

// token is the session's token, as the browser sent it.
func (c *console) token(r *http.Request) string { return c.cookie(r, sessionCookie) }
