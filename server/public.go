package server

import (
	"bytes"
	_ "embed"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/gin-gonic/gin"

	"github.com/loyalty-platform/loyalty/openapi"
	"github.com/loyalty-platform/loyalty/server/contract"
)

//go:embed index.html
var indexSource string

var indexPage = template.Must(template.New("index").Parse(indexSource))

// publish adds what needs no signature: liveness, readiness, the documents, their
// request collections and the page that lists them. Nothing in it is a customer's.
func (s *Server) publish(g gin.IRouter, documents []contract.Document) error {
	g.GET("/livez", func(c *gin.Context) { c.String(http.StatusOK, "ok\n") })
	g.GET("/readyz", s.answerReady)
	for _, d := range documents {
		g.GET("/openapi/"+d.API+".yaml", s.bundled(d.API, "application/yaml; charset=utf-8", func(b bundle) []byte { return b.asYAML }))
		g.GET("/openapi/"+d.API+".json", s.bundled(d.API, "application/json; charset=utf-8", func(b bundle) []byte { return b.asJSON }))
		requests, err := openapi.Collection(d.API)
		if err != nil {
			return err
		}
		g.GET("/collections/"+d.API+".json", static("application/json; charset=utf-8", requests))
	}
	var page bytes.Buffer
	if err := indexPage.Execute(&page, index(documents)); err != nil {
		return err
	}
	for _, path := range []string{"/", "/docs"} {
		g.GET(path, static("text/html; charset=utf-8", page.Bytes()))
	}
	return nil
}

// bundle is a document that stands by itself.
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

type indexEntry struct {
	API, Title, Description string
	Operations              []indexOperation
}

type indexOperation struct{ Method, Path, Summary string }

func index(documents []contract.Document) []indexEntry {
	entries := make([]indexEntry, len(documents))
	for i, d := range documents {
		entries[i] = indexEntry{API: d.API, Title: d.Spec.Info.Title, Description: d.Spec.Info.Description}
		for _, path := range slices.Sorted(maps.Keys(d.Spec.Paths.Map())) {
			item := d.Spec.Paths.Value(path)
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				if op := item.GetOperation(method); op != nil {
					entries[i].Operations = append(entries[i].Operations, indexOperation{method, path, op.Summary})
				}
			}
		}
	}
	return entries
}

// static answers bytes that never change while the server runs. The page may
// load nothing from anywhere.
func static(contentType string, body []byte) gin.HandlerFunc {
	return func(c *gin.Context) {
		h := c.Writer.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		c.Data(http.StatusOK, contentType, body)
	}
}
