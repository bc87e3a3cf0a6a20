package openapi

import (
	"context"
	"encoding/json"
	"fmt"
	"path"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oasdiff/yaml"
)

// Bundle gives the document of an API as one self-contained file, in YAML and in JSON. Components of common.yaml
// become its own, under the same name. It fails for an unknown API, and when both files define a component of one
// name, because one of them would silently replace the other.
func Bundle(api string) (asYAML, asJSON []byte, err error) {
	return bundled(api, func(*openapi3.T) {})
}

// BundleJSON is Bundle with JSON request bodies only, for code generators that take a single body per operation.
func BundleJSON(api string) (asYAML, asJSON []byte, err error) {
	return bundled(api, func(doc *openapi3.T) {
		for _, item := range doc.Paths.Map() {
			for _, op := range item.Operations() {
				if op.RequestBody != nil {
					delete(op.RequestBody.Value.Content, "application/x-www-form-urlencoded")
				}
			}
		}
	})
}

// bundled gives a document as one file, after a change that applies to this output only.
func bundled(api string, change func(*openapi3.T)) (asYAML, asJSON []byte, err error) {
	doc, err := Load(api)
	if err != nil {
		return nil, nil, err
	}

	change(doc)
	if err := internalize(doc); err != nil {
		return nil, nil, fmt.Errorf("openapi: %s: %w", api, err)
	}
	if asJSON, err = json.MarshalIndent(doc, "", "  "); err != nil {
		return nil, nil, fmt.Errorf("openapi: %s: %w", api, err)
	}
	if asYAML, err = yaml.JSONToYAML(asJSON); err != nil {
		return nil, nil, fmt.Errorf("openapi: %s: %w", api, err)
	}

	return asYAML, asJSON, nil
}

// internalize copies shared components into the document under their own names.
func internalize(doc *openapi3.T) error {
	own := ownComponents(doc)
	var collision error
	doc.InternalizeRefs(context.Background(), func(_ *openapi3.T, ref openapi3.ComponentRef) string {
		name := path.Base(ref.RefString())
		if own[ref.CollectionName()+"/"+name] {
			collision = fmt.Errorf("%s %s is defined here and in common.yaml", ref.CollectionName(), name)
		}
		return name
	})
	return collision
}

// ownComponents lists the components that the document itself defines, as collection/name.
func ownComponents(doc *openapi3.T) map[string]bool {
	own := map[string]bool{}
	add(own, "schemas", doc.Components.Schemas)
	add(own, "parameters", doc.Components.Parameters)
	add(own, "headers", doc.Components.Headers)
	add(own, "responses", doc.Components.Responses)
	add(own, "requestBodies", doc.Components.RequestBodies)
	add(own, "examples", doc.Components.Examples)
	return own
}

func add[V any](own map[string]bool, collection string, components map[string]V) {
	for name := range components {
		own[collection+"/"+name] = true
	}
}
