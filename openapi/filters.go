package openapi

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oasdiff/yaml"
)

// Filter is a filter of a list: one line of filters.yaml.
type Filter struct {
	// Name is the query parameter without an operator, such as points.
	Name string `json:"name"`
	// Kind is text, texts, id, ids, choice, integer or instant.
	Kind string `json:"kind"`
	// Of names the schema of a choice: one of its own document or of common.yaml, or document/schema.
	Of string `json:"of"`
	// What is the subject of the sentences that describe the operators; empty: the document's own sentences stay.
	What string `json:"what"`
	// Example is an example of one value, Several an example of several, separated by commas.
	Example string `json:"example"`
	Several string `json:"several"`
	// Choices are the values of a choice, from the schema.
	Choices []string `json:"-"`
}

// Filters are the filters of one API's lists.
type Filters struct {
	// Parameters are the filters by the name of their parameter in the document, to which the operators are added,
	// such as coupons-code.
	Parameters map[string]Filter `json:"parameters"`
	// Operations lists the names of the filters, in order, by operationId. A name may be followed by the operators
	// that the operation leaves out, such as "created_at but ne in".
	Operations map[string][]string `json:"operations"`
}

// Of gives the filters of an operation.
func (f Filters) Of(operation string) []Filter {
	all := make([]Filter, len(f.Operations[operation]))
	for i, entry := range f.Operations[operation] {
		key, _ := but(entry)
		all[i] = f.Parameters[key]
	}
	return all
}

// but reads an entry of an operation: the name of a filter, and the operators left out.
func but(entry string) (key string, operators []string) {
	key, rest, _ := strings.Cut(entry, " but ")
	return key, strings.Fields(rest)
}

// LoadFilters reads filters.yaml, by API; the values of choices come from the documents that read returns by name,
// common among them. It fails for a filter of an unknown kind, a choice without values, and an operation with an
// unknown filter.
func LoadFilters(read func(name string) (*openapi3.T, error)) (map[string]Filters, error) {
	text, err := fs.ReadFile(FS, "filters.yaml")
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}

	all := map[string]Filters{}
	if _, err := yaml.Unmarshal(text, &all, yaml.DecodeOpts{}); err != nil {
		return nil, fmt.Errorf("openapi: filters.yaml: %w", err)
	}

	for api, filters := range all {
		if err := filters.complete(api, read); err != nil {
			return nil, fmt.Errorf("openapi: filters.yaml: %s: %w", api, err)
		}
	}

	return all, nil
}

func (f Filters) complete(api string, enums enums) error {
	for key, filter := range f.Parameters {
		if !slices.Contains([]string{"text", "texts", "id", "ids", "choice", "integer", "instant"}, filter.Kind) {
			return fmt.Errorf("%s: the kind %q is not known", key, filter.Kind)
		}
		if filter.Kind != "choice" {
			continue
		}
		var err error
		if filter.Choices, err = enums.of(api, filter.Of); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		f.Parameters[key] = filter
	}

	for operation, entries := range f.Operations {
		for _, entry := range entries {
			key, _ := but(entry)
			if _, ok := f.Parameters[key]; !ok {
				return fmt.Errorf("%s: there is no filter %s", operation, key)
			}
		}
	}

	return nil
}

// enums finds the values of schemas in documents, which it reads by name.
type enums func(name string) (*openapi3.T, error)

func (read enums) of(api, schema string) ([]string, error) {
	documents, name := []string{api, common}, schema
	if document, own, elsewhere := strings.Cut(schema, "/"); elsewhere {
		documents, name = []string{document}, own
	}

	for _, document := range documents {
		doc, err := read(document)
		if err != nil {
			return nil, err
		}
		if ref := doc.Components.Schemas[name]; ref != nil && ref.Value != nil && len(ref.Value.Enum) > 0 {
			return texts(ref.Value), nil
		}
	}

	return nil, fmt.Errorf("the schema %q has no enum", schema)
}

func texts(s *openapi3.Schema) []string {
	list := make([]string, len(s.Enum))
	for i, value := range s.Enum {
		list[i] = fmt.Sprint(value)
	}
	return list
}
