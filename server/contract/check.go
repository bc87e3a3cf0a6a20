package contract

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// maxDetails bounds how many faults one answer lists.
const maxDetails = 100

// checker walks a body along its schema: it converts the values of a form, drops nulls, and collects faults. Empty
// required properties come before all other faults, because the specification gives them a message of their own.
type checker struct {
	prefix string // prefixes every path
	path   []step
	form   bool // the body is a form
	// empty are the empty required properties.
	empty  []loyalty.Detail
	faults []loyalty.Detail
	// patterns is the cost so far of matching the declared patterns.
	patterns int
}

// step is one part of a path: a name, or a place in a list.
type step struct {
	name string
	at   int // -1: a name
}

// Check checks the body against the schema and returns it in canonical form: no null that the schema does not allow, no
// form values, every number as written. It changes the maps and lists of v. It fails with an error of kind Invalid,
// ErrPropertyEmpty if a required property is empty. The details list every fault, empty properties first; prefix stands
// before their fields, such as events[3].
func (s *Schema) Check(v any, prefix string) (any, error) {
	_, form := v.(*Form)
	k := checker{prefix: prefix, form: form}
	v = k.value(s, v)
	if len(k.empty)+len(k.faults) > 0 {
		return nil, k.failure()
	}
	return v, nil
}

// CheckJSON is Check for a JSON text, which it returns in canonical form. It fails with ErrMalformedBody if the text is
// no JSON.
func (s *Schema) CheckJSON(text json.RawMessage, prefix string) (json.RawMessage, error) {
	tree, err := ParseJSON(text)
	if err != nil {
		return nil, err
	}
	if tree, err = s.Check(tree, prefix); err != nil {
		return nil, err
	}
	return AppendJSON(make([]byte, 0, len(text)), tree), nil
}

func (k *checker) value(s *Schema, v any) any {
	if s.kind == either {
		return k.value(s.meant(v), v)
	}
	if n, ok := v.(*Form); ok {
		v = n.open(s)
	}

	switch s.kind {
	case object:
		if m, ok := v.(map[string]any); ok {
			k.object(s, m)
			return m
		}
		k.mustBe("object")

	case list:
		if items, ok := v.([]any); ok {
			k.list(s, items)
			return items
		}
		k.mustBe("array")

	case oneOf:
		if m, ok := v.(map[string]any); ok {
			k.oneOf(s, m)
			return m
		}
		k.mustBe("object")

	default:
		return k.validate(s, v)
	}

	return v
}

// meant is the schema for a value that may be one value or a list.
func (s *Schema) meant(v any) *Schema {
	n, form := v.(*Form)
	_, items := v.([]any)
	if items || form && !n.isText {
		return s.several
	}
	return s.one
}

func (k *checker) object(s *Schema, m map[string]any) {
	k.requireAll(s, m)
	known := 0
	for _, p := range s.order {
		v, sent := m[p.name]
		if !sent {
			continue
		}
		if v == nil && !p.schema.nullable {
			delete(m, p.name)
			continue
		}
		known++
		k.path = append(k.path, step{p.name, -1})
		m[p.name] = k.value(p.schema, v)
		k.path = k.path[:len(k.path)-1]
	}

	if known < len(m) {
		k.bareNames(s, m)
		k.extras(s, m)
	}

	k.count(s, len(m), "properties")
}

// requireAll notes the required properties that are missing, null or blank.
func (k *checker) requireAll(s *Schema, m map[string]any) {
	for _, name := range s.required {
		p := s.byName[name]
		if !isEmpty(m[name], p != nil && p.nullable) {
			continue
		}
		if k.form && k.emptyObject(p, m, name) {
			continue
		}
		k.setEmpty(name)
	}
}

// emptyObject sets {} for a required object that a form left empty, or left out if the object has no required property:
// a form cannot write an empty object.
func (k *checker) emptyObject(p *Schema, m map[string]any, name string) bool {
	_, sent := m[name].(*Form)
	if p == nil || p.kind != object && p.types != takesObject || !sent && len(p.required) > 0 {
		return false
	}
	m[name] = map[string]any{}
	return true
}

// setEmpty notes an empty required property of the current value.
func (k *checker) setEmpty(name string) {
	if len(k.empty) < maxDetails {
		k.empty = append(k.empty,
			loyalty.Detail{Field: k.field(name), Name: loyalty.ErrPropertyEmpty.Name, Args: map[string]any{"property": name}})
	}
}

func isEmpty(v any, nullable bool) bool {
	switch v := v.(type) {
	case nil:
		return !nullable
	case string:
		return strings.TrimSpace(v) == ""
	}
	return isBlank(v)
}

// isBlank reports whether a value was left empty in a form.
func isBlank(v any) bool {
	n, ok := v.(*Form)
	return ok && n.isText && strings.TrimSpace(n.text) == ""
}

// bareNames removes the blanks around names that are ids. Names that differ only in blanks are the same, which may occur
// once.
func (k *checker) bareNames(s *Schema, m map[string]any) {
	if s.keys != "id" {
		return
	}

	for _, name := range slices.Sorted(maps.Keys(m)) {
		bare := strings.TrimSpace(name)
		if bare == name {
			continue
		}
		if _, twice := m[bare]; twice {
			k.fault("not_unique", name, map[string]any{"property": bare})
		}
		m[bare] = m[name]
		delete(m, name)
	}
}

// extras decides on properties that the schema does not declare.
func (k *checker) extras(s *Schema, m map[string]any) {
	for name, v := range m {
		if _, declared := s.byName[name]; declared {
			continue
		}

		if v == nil && (s.extra != typedExtra || !s.other.nullable) {
			delete(m, name)
			continue
		}

		if twin, ok := s.twin(name); ok {
			k.fault("case_mismatch", name, map[string]any{"property": name, "declared": twin})
			continue
		}

		switch {
		case s.extra == typedExtra && s.keys == "language" && !loyalty.IsLanguage(name):
			k.fault("bad_format", name, map[string]any{"property": name, "format": "ISO 639-1"})
		case s.extra == typedExtra && s.other.nullable && isBlank(v):
			m[name] = nil // a form cannot write null in another way
		case s.extra == typedExtra:
			k.path = append(k.path, step{name, -1})
			m[name] = k.value(s.other, v)
			k.path = k.path[:len(k.path)-1]

		case s.extra == anyExtra, s.extra == customExtra && strings.HasPrefix(name, "cf_"):
			if n, ok := v.(*Form); ok {
				m[name] = n.free()
			} else if !isFinite(v) {
				k.fault(loyalty.ErrTooLarge.Name, name, map[string]any{"property": name})
			}

		default:
			k.fault("property_unknown", name, map[string]any{"property": name})
		}
	}
}

// isFinite reports whether every number in a value without a schema fits a binary fraction (float64). A number that
// does not would make the whole event unreadable to clients without other numbers.
func isFinite(v any) bool {
	switch v := v.(type) {
	case json.Number:
		return finite(v) == nil
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !isFinite(item) })
	case map[string]any:
		for _, value := range v {
			if !isFinite(value) {
				return false
			}
		}
	}
	return true
}

// twin finds a declared property that differs only in letter case: encoding/json, which decodes the body later, would
// confuse the two.
func (s *Schema) twin(name string) (string, bool) {
	for _, p := range s.order {
		if strings.EqualFold(p.name, name) {
			return p.name, true
		}
	}
	return "", false
}

func (k *checker) list(s *Schema, items []any) {
	k.count(s, len(items), "items")
	for i, item := range items {
		k.path = append(k.path, step{"", i})
		items[i] = k.value(s.items, item)
		k.path = k.path[:len(k.path)-1]
	}
	k.unique(s, items)
}

// oneOf walks the branch that the discriminator names.
func (k *checker) oneOf(s *Schema, m map[string]any) {
	v := m[s.by]
	if n, ok := v.(*Form); ok && n.isText {
		v = n.text
	}

	name, _ := v.(string)
	branch := s.branches[name]
	if s.lookup != nil {
		branch = s.lookup(name)
	}
	if branch == nil {
		branch = s.unknown
	}

	if branch == nil && isEmpty(m[s.by], false) {
		k.setEmpty(s.by)
		return
	}

	if branch == nil {
		k.fault("must_be_one_of", s.by, map[string]any{"property": s.by, "values": slices.Sorted(maps.Keys(s.branches))})
		return
	}

	k.object(branch, m)
}

// field is the path of a property of the current value, or of the value itself without a name.
func (k *checker) field(name string) string {
	b := []byte(k.prefix)
	for _, s := range k.path {
		b = s.append(b)
	}
	if name != "" {
		b = step{name, -1}.append(b)
	}
	return string(b)
}

func (s step) append(b []byte) []byte {
	if s.at >= 0 {
		return append(strconv.AppendInt(append(b, '['), int64(s.at), 10), ']')
	}
	if n := len(b); n > 0 && b[n-1] != '.' {
		b = append(b, '.')
	}
	return append(b, s.name...)
}

// property is the bare name of the current value, with its place if it is in a list.
func (k *checker) property() string {
	from := len(k.path) - 1
	for from > 0 && k.path[from].at >= 0 {
		from--
	}
	if from < 0 {
		return "body"
	}
	var b []byte
	for _, s := range k.path[from:] {
		b = s.append(b)
	}
	return string(b)
}

// fault notes a fault of a property of the current value.
func (k *checker) fault(name, property string, args map[string]any) {
	if len(k.faults) < maxDetails {
		k.faults = append(k.faults, loyalty.Detail{Field: k.field(property), Name: name, Args: args})
	}
}

func (k *checker) mustBe(kind string) {
	k.fault("must_be_type", "", map[string]any{"property": k.property(), "type": kind})
}

// failure is the error of all faults: its message is that of the first one, and it lists all, empty properties in the
// order of the walk and the others in the order of their paths.
func (k *checker) failure() *loyalty.Error {
	slices.SortStableFunc(k.faults, func(a, b loyalty.Detail) int { return cmp.Compare(a.Field, b.Field) })
	all := slices.Clone(k.empty)
	for _, f := range k.faults {
		// an empty property is too short as well; it is listed once
		if !slices.ContainsFunc(k.empty, func(e loyalty.Detail) bool { return e.Field == f.Field }) {
			all = append(all, f)
		}
	}
	first := all[0]
	return &loyalty.Error{
		Kind: loyalty.Invalid, Code: faultCode(first.Name),
		Name: first.Name, Args: first.Args, Details: all[:min(len(all), maxDetails)],
	}
}

// faultCode is the code of a fault; its name only selects the message.
func faultCode(name string) int {
	switch name {
	case "property_unknown", "case_mismatch":
		return loyalty.ErrPropertyUnknown.Code
	case loyalty.ErrTooLarge.Name:
		return loyalty.ErrTooLarge.Code
	case loyalty.ErrPropertyEmpty.Name:
		return loyalty.ErrPropertyEmpty.Code
	}
	return loyalty.ErrPropertyInvalid.Code
}
