package loyalty

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
)

// CustomAttribute declares an attribute of an entity or of customers
// (custom-entities/attribute).
type CustomAttribute struct {
	ID           string   `json:"-"`
	On           string   `json:"on"`
	Name         string   `json:"name"` // without cf_
	Type         string   `json:"type"` // string, number, integer, boolean or date
	Tags         []string `json:"tags"`
	Translatable bool     `json:"translatable"`
}

// maxCustom bounds the text of an attribute of a customer, in characters.
const maxCustom = 10_000

// Schema is the schema of a customer's attribute. Its values are personal, as everything in a profile is.
func (a *CustomAttribute) Schema() map[string]any {
	s := map[string]any{"type": a.Type, "x-personal": true}
	switch a.Type {
	case "string":
		s["maxLength"] = maxCustom
	case "date":
		s["type"], s["format"] = "string", "date"
	}
	return s
}

// The types of a declared attribute's values.
const (
	AttributeString  = "string"
	AttributeNumber  = "number"
	AttributeInteger = "integer"
	AttributeBoolean = "boolean"
	AttributeDate    = "date" // YYYY-MM-DD
)

// The tags of a declared attribute.
const (
	TagFilterable = "filterable" // with TagAPI: lists can be filtered by it
	TagAPI        = "api"
	TagSearchable = "searchable" // the search of a list looks into it
)

// Property is the attribute's name among those of an entity, cf_ included.
func (a *CustomAttribute) Property() string { return "cf_" + a.Name }

// Filterable reports whether lists can be filtered by the attribute: it is tagged
// filterable and api.
func (a *CustomAttribute) Filterable() bool {
	return slices.Contains(a.Tags, TagFilterable) && slices.Contains(a.Tags, TagAPI)
}

// Value returns the attribute's value in an entity or a customer, by its type: string, float64, int64, bool, time.Time
// (the beginning of the day in UTC), or []string, the texts of a translatable one. It is nil if there is none, or one
// of another type from before the attribute was declared.
func (a *CustomAttribute) Value(custom map[string]json.RawMessage) any {
	raw := custom[a.Property()]
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}

	switch a.Type {
	case AttributeString:
		return a.texts(raw)
	case AttributeBoolean:
		return valueOf[bool](raw)
	case AttributeDate:
		text, _ := valueOf[string](raw).(string)
		if day, err := time.Parse(time.DateOnly, text); err == nil {
			return day
		}
	case AttributeInteger:
		return integerValue(raw)
	case AttributeNumber:
		return valueOf[float64](raw)
	}

	return nil
}

// texts returns the text of an attribute, or of a translatable one those of all languages.
func (a *CustomAttribute) texts(raw json.RawMessage) any {
	if !a.Translatable {
		return valueOf[string](raw)
	}
	texts, ok := valueOf[map[string]string](raw).(map[string]string)
	if !ok || len(texts) == 0 {
		return nil
	}
	return slices.Sorted(maps.Values(texts))
}

// Texts returns the attribute's value as the texts that a search compares; none for a boolean.
func (a *CustomAttribute) Texts(custom map[string]json.RawMessage) []string {
	switch v := a.Value(custom).(type) {
	case string:
		return []string{v}
	case []string:
		return v
	case int64, float64:
		return []string{string(bytes.TrimSpace(custom[a.Property()]))}
	case time.Time:
		return []string{v.Format(time.DateOnly)}
	}
	return nil
}

// valueOf reads a value of one type; nil if it has another one.
func valueOf[T any](raw json.RawMessage) any {
	var v T
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return v
}

// integerValue reads a whole number, including one that is written as 5.0 or 5e2.
func integerValue(raw json.RawMessage) any {
	text := string(bytes.TrimSpace(raw))
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	f, ok := valueOf[float64](raw).(float64)
	if !ok || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return nil
	}
	return int64(f)
}

// CustomFilter selects customers by custom attributes. Several conditions concern one document, so Fits decides; a
// store may narrow the candidates by Needs first.
type CustomFilter struct {
	Needs []string // names with cf_ without which no customer fits
	Fits  func(custom map[string]json.RawMessage) bool
}
