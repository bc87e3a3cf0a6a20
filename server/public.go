package server

import (
	"net/http"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/contract"
)

// publish adds what needs no signature: liveness, readiness, the documents, their
// request collections and the portal that explains them. Nothing in it is a customer's.
func (s *Server) publish(g gin.IRouter, documents []contract.Document) {
	g.GET("/livez", func(c *gin.Context) { c.String(http.StatusOK, "ok\n") })
	g.GET("/readyz", s.answerReady)
	for _, d := range documents {
		g.GET("/openapi/"+d.API+".yaml", s.bundled(d.API, "application/yaml; charset=utf-8", func(b bundle) []byte { return b.asYAML }))
		g.GET("/openapi/"+d.API+".json", s.bundled(d.API, "application/json; charset=utf-8", func(b bundle) []byte { return b.asJSON }))
		g.GET("/collections/"+d.API+".json", s.collected(d.API))
	}
	if s.portal != nil {
		page := gin.WrapH(s.portal)
		for _, path := range []string{"/", "/docs", "/docs.md", "/docs/*page", "/llms.txt"} {
			g.GET(path, page)
		}
		g.POST("/docs/try", page)
	}
}

// collected answers the request collection of an API, which is read when it is asked for: all of
// them are megabytes.
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

// bundles makes each of them when it is first asked for: the start does not wait.
var bundles = func() map[string]func() (bundle, error) {
	all := map[string]func() (bundle, error){}
	for _, api := range openapi.Names() {
		all[api] = sync.OnceValues(func() (b bundle, err error) {
			b.asYAML, b.asJSON, err = openapi.Bundle(api)
			b.asJSON = withoutHTML(b.asJSON)
			return b, err
		})
	}
	return all
}()

func (s *Server) bundled(api, contentType string, form func(bundle) []byte) gin.HandlerFunc {
	return func(c *gin.Context) {
		b, err := bundles[api]()
		if err != nil {
			s.fail(c, err)
			return
		}
		static(contentType, form(b))(c)
	}
}

// static answers bytes that never change while the server runs. Where a browser shows
// them, they may load nothing from anywhere.
func static(contentType string, body []byte) gin.HandlerFunc {
	return func(c *gin.Context) {
		h := c.Writer.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		c.Data(http.StatusOK, contentType, body)
	}
}
