package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The properties of rules that look at facts: a condition, and the sum in a criterion of a challenge.
const (
	ConditionProperty = "condition"
	SumProperty       = "sum"
)

// EntityRef names an entity by its type and id.
type EntityRef struct{ Kind, ID string }

// RuleWalk visits the conditions and sums in a body, with their entities and their places.
type RuleWalk struct {
	Visit func(of EntityRef, at, name, source string) error
}

// In visits a body that stands at a place of the request; of is the entity that it belongs to. It ends at the first
// error.
func (w RuleWalk) In(body any, at string, of EntityRef) error {
	switch body := body.(type) {
	case map[string]any:
		of = entityIn(body, of)
		for _, name := range slices.Sorted(maps.Keys(body)) {
			place := strings.TrimPrefix(at+"."+name, ".")
			source, text := body[name].(string)
			var err error
			if text && (name == ConditionProperty || name == SumProperty) {
				err = w.Visit(of, place, name, source)
			} else {
				err = w.In(body[name], place, under(of, name))
			}
			if err != nil {
				return err
			}
		}

	case []any:
		for i := range body {
			if err := w.In(body[i], fmt.Sprintf("%s[%d]", at, i), of); err != nil {
				return err
			}
		}
	}

	return nil
}

// entityIn is the entity that an object names: one of many changes has its type and id.
func entityIn(body map[string]any, of EntityRef) EntityRef {
	if kind, ok := body["type"].(string); ok && strings.Contains(kind, "/") {
		id, _ := body["id"].(string)
		return EntityRef{kind, id}
	}
	return of
}

// under is the entity below a property: a configuration has the type, and below it the id.
func under(of EntityRef, name string) EntityRef {
	switch {
	case strings.Contains(name, "/"):
		return EntityRef{Kind: name}
	case of.Kind != "" && of.ID == "":
		return EntityRef{of.Kind, name}
	}
	return of
}
