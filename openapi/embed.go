// Package openapi holds the contract: one OpenAPI 3.0.3 document for each API, and common.yaml, which they share. The
// documents are the manual, the source of the generated code in gen, and what the server validates against; a
// request's shape is defined nowhere else.
package openapi

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

// FS holds the documents as written, by file name.
//
//go:embed *.yaml
var FS embed.FS

const common = "common"

// served are the APIs that have handlers, in alphabetical order.
var served = []string{"administration", "automation-campaigns", "coupon", "customers", "display", "entities", "events",
	"leaderboard", "levels", "loyalty-read", "offers", "rewards"}

// Names lists the APIs in alphabetical order. Each is the name of a document without its extension. An access key's
// list of APIs holds these names.
func Names() []string { return slices.Clone(served) }

// Load reads the document of an API, resolves its references to common.yaml and validates it. Each call gives a
// separate document. It fails for a name that is not among Names.
func Load(api string) (*openapi3.T, error) {
	if !slices.Contains(served, api) {
		return nil, fmt.Errorf("openapi: no API is called %q", api)
	}
	loader := newLoader()
	doc, err := loader.LoadFromURI(&url.URL{Path: api + ".yaml"})
	if err != nil {
		return nil, fmt.Errorf("openapi: %s: %w", api, err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, fmt.Errorf("openapi: %s: %w", api, err)
	}
	return doc, nil
}

// Reader gives a function that reads documents by name, common among them. Documents share the components that they
// refer to, so they must not be changed; they are not validated.
func Reader() func(name string) (*openapi3.T, error) {
	loader := newLoader()
	return func(name string) (*openapi3.T, error) { return loader.LoadFromURI(&url.URL{Path: name + ".yaml"}) }
}

// newLoader gives a loader that finds files in FS only.
func newLoader() *openapi3.Loader {
	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = true
	loader.ReadFromURIFunc = func(_ *openapi3.Loader, u *url.URL) ([]byte, error) {
		if u.Scheme != "" || u.Host != "" {
			return nil, fmt.Errorf("%s is outside the contract", u.Redacted())
		}
		return fs.ReadFile(FS, path.Clean(u.Path))
	}
	return loader
}
