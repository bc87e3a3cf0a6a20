package openapi

import (
	"fmt"
	"net/url"

	"github.com/getkin/kin-openapi/openapi3"
)

// Shared reads a schema of common.yaml with everything it refers to. Each call
// gives a copy of its own. It fails for a name that common.yaml does not have.
func Shared(name string) (*openapi3.SchemaRef, error) {
	doc, err := newLoader().LoadFromURI(&url.URL{Path: common + ".yaml"})
	if err != nil {
		return nil, fmt.Errorf("openapi: %s: %w", common, err)
	}
	ref := doc.Components.Schemas[name]
	if ref == nil || ref.Value == nil {
		return nil, fmt.Errorf("openapi: %s: no schema is called %q", common, name)
	}
	return ref, nil
}
