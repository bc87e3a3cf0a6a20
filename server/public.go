package server

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
)

// publish adds the paths without a signature: liveness, readiness, the documents, their request collections and the
// portal. They contain no customer's data.
func (s *Server) publish(g gin.IRouter, documents []contract.Document) {
	get := func(path string, h gin.HandlerFunc) { // for HEAD the server sends only the headers
		g.GET(path, h)
		g.HEAD(path, h)
	}

	get("/livez", func(c *gin.Context) { text(c, http.StatusOK, "ok\n") })
	get("/readyz", s.answerReady)
	for _, d := range documents {
		get("/openapi/"+d.API+".yaml",
			s.bundled(d.API, "application/yaml; charset=utf-8", func(b bundle) []byte { return b.asYAML }))
		get("/openapi/"+d.API+".json",
			s.bundled(d.API, "application/json; charset=utf-8", func(b bundle) []byte { return b.asJSON }))
		get("/collections/"+d.API+".json", s.collected(d.API))
	}

	if s.portal != nil {
		page := func(c *gin.Context) { s.portal.ServeHTTP(c.Writer, s.proxies.seen(c.Request)) }
		for _, path := range []string{"/", "/docs", "/docs.md", "/docs/*page", "/llms.txt"} {
			get(path, page)
		}
		g.POST("/docs/try", page)
	}
}

// collected answers the request collection of an API, which is read on request: all of them together are megabytes.
func (s *Server) collected(api string) gin.HandlerFunc {
	return func(c *gin.Context) {
		requests, err := openapi.Collection(api)
		if err != nil {
			s.fail(c, err)
			return
		}
		static("application/json; charset=utf-8", requests)(c)
	}
}

// bundle is a self-contained document.
type bundle struct{ asYAML, asJSON []byte }

// bundles are the full documents, jsonBundles those with bodies in JSON only.
var bundles, jsonBundles = bundlesBy(openapi.Bundle), bundlesBy(openapi.BundleJSON)

// bundlesBy makes each of them on first use, so that the start does not wait.
func bundlesBy(read func(api string) (asYAML, asJSON []byte, err error)) map[string]func() (bundle, error) {
	all := map[string]func() (bundle, error){}
	for _, name := range openapi.Names() {
		all[name] = sync.OnceValues(func() (b bundle, err error) {
			b.asYAML, b.asJSON, err = read(name)
			b.asJSON = api.WithoutHTML(b.asJSON)
			return b, err
		})
	}
	return all
}

func (s *Server) bundled(api, contentType string, form func(bundle) []byte) gin.HandlerFunc {
	return func(c *gin.Context) {
		from := bundles
		if bodies, asked := c.GetQueryArray("bodies"); asked {
			if len(bodies) != 1 || bodies[0] != "json" {
				s.fail(c, contract.ErrInvalidParameter.With("parameter", "bodies").With("reason", "choice").At("bodies"))
				return
			}
			from = jsonBundles
		}

		b, err := from[api]()
		if err != nil {
			s.fail(c, err)
			return
		}

		static(contentType, form(b))(c)
	}
}

// text answers a plain text with its length, equal for HEAD and GET.
func text(c *gin.Context, status int, body string) {
	c.Writer.Header().Set("Content-Length", strconv.Itoa(len(body)))
	c.String(status, "%s", body)
}

// static answers bytes that never change while the server runs. A browser that shows them may load nothing from
// anywhere.
func static(contentType string, body []byte) gin.HandlerFunc {
	return func(c *gin.Context) {
		h := c.Writer.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Length", strconv.Itoa(len(body)))
		c.Data(http.StatusOK, contentType, body)
	}
}
