package administration

import (
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/loyalty-platform/loyalty/server/api"
	"github.com/loyalty-platform/loyalty/server/contract"
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Bounds of the fields of a failed request.
const (
	maxFailureFields = 20
	maxFailureField  = 200
)

// Fields masks the faulty properties.
func (l *FailureLog) Fields(details []loyalty.Detail) []string {
	var list []string
	for _, d := range details {
		field := masked(d.Field, l.Names)
		if field != "" && !slices.Contains(list, field) && len(list) < maxFailureFields {
			list = append(list, field)
		}
	}
	return list
}

// part is a part of a path into a request: a place in a list, a quoted name, or a
// name.
var part = regexp.MustCompile(`\[\d{1,9}\]|\["(?:[^"\\]|\\.)*"\]|\.?[^.\[\]]+|[.\[\]]`)

// masked is a path into a request with only the names that the documents have: the caller chose any other, which may be
// anything, for example a person's name.
func masked(field string, names map[string]bool) string {
	var b strings.Builder
	for _, p := range part.FindAllString(field, -1) {
		name := strings.TrimPrefix(p, ".")
		switch {
		case p[0] == '[' && len(p) > 2 && p[1] != '"', names[name]:
			b.WriteString(p)
		case p[0] == '[':
			b.WriteString("[*]")
		case p[0] == '.':
			b.WriteString(".*")
		default:
			b.WriteString("*")
		}

		if b.Len() > maxFailureField {
			return b.String()[:maxFailureField]
		}
	}

	return b.String()
}

// NamesOf collects the names of properties, parameters and headers in the documents.
func NamesOf(documents []contract.Document) map[string]bool {
	names := map[string]bool{"Authorization": true, "Date": true, "Host": true, api.IdempotencyHeader: true, "body": true}
	seen := map[*openapi3.Schema]bool{}
	for _, d := range documents {
		for _, ref := range d.Spec.Components.Schemas {
			nameProperties(ref, names, seen)
		}

		for _, item := range d.Spec.Paths.Map() {
			for _, op := range item.Operations() {
				for _, p := range append(slices.Clone(item.Parameters), op.Parameters...) {
					names[p.Value.Name] = true
				}
				if op.RequestBody == nil {
					continue
				}
				for _, media := range op.RequestBody.Value.Content {
					nameProperties(media.Schema, names, seen)
				}
			}
		}
	}

	for name := range names { // the parts of a filter such as points.gte count on their own
		for p := range strings.SplitSeq(name, ".") {
			names[p] = true
		}
	}

	return names
}

func nameProperties(ref *openapi3.SchemaRef, names map[string]bool, seen map[*openapi3.Schema]bool) {
	if ref == nil || ref.Value == nil || seen[ref.Value] {
		return
	}

	s := ref.Value
	seen[s] = true
	for name, p := range s.Properties {
		names[name] = true
		nameProperties(p, names, seen)
	}

	nameProperties(s.Items, names, seen)
	nameProperties(s.AdditionalProperties.Schema, names, seen)
	for _, list := range []openapi3.SchemaRefs{s.AllOf, s.AnyOf, s.OneOf} {
		for _, p := range list {
			nameProperties(p, names, seen)
		}
	}
}
