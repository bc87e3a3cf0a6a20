package contract

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"golang.org/x/sync/errgroup"

	"github.com/loyalty-platform/loyalty/gen/documents"
	"github.com/loyalty-platform/loyalty/openapi"
)

// Document is one API of the contract: its name, such as display, and its OpenAPI document with all references
// resolved.
type Document struct {
	API  string
	Spec *openapi3.T
}

// Documents returns every document of the contract, without prose and examples. They are read once and must not be
// changed. It fails if one cannot be read.
var Documents = sync.OnceValues(func() ([]Document, error) {
	if err := readAll(); err != nil {
		return nil, err
	}
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

// reader reads documents; a file that several of them share is read once.
type reader struct {
	sync.Mutex
	*openapi3.Loader
}

func newReader() *reader {
	l := openapi3.NewLoader()
	l.IsExternalRefsAllowed = true
	files := map[string][]byte{} // the loader asks for a file at each reference into it
	l.ReadFromURIFunc = func(_ *openapi3.Loader, u *url.URL) ([]byte, error) {
		name := strings.TrimSuffix(path.Clean(u.Path), ".yaml") + ".json"
		if text, ok := files[name]; ok {
			return text, nil
		}
		text, err := documents.FS.ReadFile(name)
		if err == nil {
			files[name] = text
		}
		return text, err
	}

	return &reader{Loader: l}
}

// Reading the documents takes most of the time of a start, so two processors read half of them each. The documents that
// refer to the events or the entities are read with them.
var (
	first  = newReader()
	second = newReader()
	beside = []string{"display", "events", "entities", "automation-campaigns", "leaderboard"} // read by the second
)

// readAll reads both halves at once.
func readAll() error {
	var halves errgroup.Group
	for _, here := range []bool{true, false} {
		halves.Go(func() error {
			for _, name := range openapi.Names() {
				if slices.Contains(beside, name) != here {
					continue
				}
				if _, err := document(name); err != nil {
					return err
				}
			}
			return nil
		})
	}

	return halves.Wait()
}

// document returns an API's document, or common.
func document(name string) (*openapi3.T, error) {
	r := first
	if slices.Contains(beside, name) {
		r = second
	}
	r.Lock()
	defer r.Unlock()
	spec, err := r.LoadFromURI(&url.URL{Path: name + ".yaml"})
	if err != nil {
		return nil, fmt.Errorf("the document %s: %w", name, err)
	}
	return spec, nil
}

// Filters are the filters of filters.yaml, by API.
var Filters = sync.OnceValues(func() (map[string]openapi.Filters, error) { return openapi.LoadFilters(document) })
