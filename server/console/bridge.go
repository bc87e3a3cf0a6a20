package console

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// lookEvery is how often the session of a long request is checked.
const lookEvery = 2 * time.Second

// bridge passes a request on to the API unchanged, except for the prefix of its path and headers that could name
// another caller. The context carries the signed-in user.
func (c *console) bridge(w http.ResponseWriter, r *http.Request) {
	token := c.token(r)
	me, err := c.Users.Session(r.Context(), token)
	if err != nil {
		c.fail(w, r, err)
		return
	}

	if writes(r) && !isJSON(r) && r.ContentLength != 0 {
		c.fail(w, r, errMediaType) // another site can send a form
		return
	}

	ctx, cancel := context.WithCancel(loyalty.WithCaller(r.Context(), me))
	defer cancel()
	go c.watch(ctx, cancel, token, me)
	to := r.Clone(ctx)
	to.Header.Del("Cookie")
	to.Header.Del("Authorization")
	to.RequestURI = cut(r.RequestURI)
	to.URL.Path = cut(r.URL.Path)
	if r.URL.RawPath != "" {
		to.URL.RawPath = cut(r.URL.RawPath)
	}

	c.API.ServeHTTP(w, to)
}

// cut removes the console's part of a path.
func cut(text string) string {
	if u, err := url.Parse(text); err == nil && u.IsAbs() { // the absolute form of a request line
		text = u.RequestURI()
	}
	return "/" + strings.TrimPrefix(text, apiPath)
}

// watch ends a request whose session ends meanwhile: a user who was shut out must not keep reading a stream.
func (c *console) watch(ctx context.Context, cancel func(), token string, me *loyalty.Caller) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if !c.Users.Lasts(ctx, token, me.Role, me.Personal) {
				cancel()
				return
			}
		}
	}
}
