package contract

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/loyalty-platform/loyalty/gen/documents"
	"github.com/loyalty-platform/loyalty/openapi"
)

// Document is one API of the contract: its name, such as display, and its OpenAPI
// document with every reference resolved.
type Document struct {
	API  string
	Spec *openapi3.T
}

// Documents gives every document of the contract, without prose and examples. They are
// read once, and must not be changed. It fails where one cannot be read.
var Documents = sync.OnceValues(func() ([]Document, error) {
	names := openapi.Names()
	all := make([]Document, len(names))
	for i, api := range names {
		spec, err := document(api)
		if err != nil {
			return nil, err
		}
		all[i] = Document{api, spec}
	}
	return all, nil
})

// reader reads what the documents share once for all of them.
var reader = struct {
	sync.Mutex
	*openapi3.Loader
}{Loader: newLoader()}

func newLoader() *openapi3.Loader {
	l := openapi3.NewLoader()
	l.IsExternalRefsAllowed = true
	l.ReadFromURIFunc = func(_ *openapi3.Loader, u *url.URL) ([]byte, error) {
		return documents.FS.ReadFile(strings.TrimSuffix(path.Clean(u.Path), ".yaml") + ".json")
	}
	return l
}

// document gives an API's document, or common.
func document(name string) (*openapi3.T, error) {
	reader.Lock()
	defer reader.Unlock()
	spec, err := reader.LoadFromURI(&url.URL{Path: name + ".yaml"})
	if err != nil {
		return nil, fmt.Errorf("the document %s: %w", name, err)
	}
	return spec, nil
}

// Filters are those of filters.yaml, by API.
var Filters = sync.OnceValues(func() (map[string]openapi.Filters, error) { return openapi.LoadFilters(document) })
