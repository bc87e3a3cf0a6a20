package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The properties of rules that look at facts: a condition, and the sum in a criterion of a challenge.
const (
	conditionProperty = "condition"
	sumProperty       = "sum"
)

// entityRef names an entity by its type and id.
type entityRef struct{ kind, id string }

// ruleWalk visits the conditions and sums in a body, with their entities and their places.
type ruleWalk struct {
	visit func(of entityRef, at, name, source string) error
}

func (w ruleWalk) in(body any, at string, of entityRef) error {
	switch body := body.(type) {
	case map[string]any:
		of = entityIn(body, of)
		for _, name := range slices.Sorted(maps.Keys(body)) {
			place := strings.TrimPrefix(at+"."+name, ".")
			source, text := body[name].(string)
			var err error
			if text && (name == conditionProperty || name == sumProperty) {
				err = w.visit(of, place, name, source)
			} else {
				err = w.in(body[name], place, under(of, name))
			}
			if err != nil {
				return err
			}
		}

	case []any:
		for i := range body {
			if err := w.in(body[i], fmt.Sprintf("%s[%d]", at, i), of); err != nil {
				return err
			}
		}
	}

	return nil
}

// entityIn is the entity that an object names: one of many changes has its type and id.
func entityIn(body map[string]any, of entityRef) entityRef {
	if kind, ok := body["type"].(string); ok && strings.Contains(kind, "/") {
		id, _ := body["id"].(string)
		return entityRef{kind, id}
	}
	return of
}

// under is the entity below a property: a configuration has the type, and below it the id.
func under(of entityRef, name string) entityRef {
	switch {
	case strings.Contains(name, "/"):
		return entityRef{kind: name}
	case of.kind != "" && of.id == "":
		return entityRef{of.kind, name}
	}
	return of
}
