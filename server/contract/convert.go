package contract

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// open gives a form's value the shape that the schema wants: names for an object, places for a list, a converted text
// for anything else. A value that does not fit stays as it is, and the check refuses it.
func (n *Form) open(s *Schema) any {
	switch {
	case n.isText && s.kind == object && !s.nullable && strings.TrimSpace(n.text) == "":
		return map[string]any{} // a form has no other way to write one
	case n.isText && s.kind == scalar:
		return s.types.convert(n.text)
	case n.isText:
		return n.text
	case s.kind == list:
		return n.items(nil)
	case s.kind == scalar:
		return n.free()
	}

	m := make(map[string]any, len(n.children))
	for name, child := range n.children {
		m[name] = child
	}

	return m
}

// items calls each for numbered children in order, without gaps. It returns nil if one of the names is not a number:
// then the value is no list.
func (n *Form) items(each func(*Form) any) any {
	places := make([]int, 0, len(n.children))
	for key := range n.children {
		i, ok := formIndex(key)
		if !ok {
			return nil
		}
		places = append(places, i)
	}

	slices.Sort(places)
	list := make([]any, len(places))
	for at, i := range places {
		child := n.children[strconv.Itoa(i)]
		list[at] = child
		if each != nil {
			list[at] = each(child)
		}
	}

	return list
}

// free returns a form's value without a schema: texts, lists where all names are places, objects otherwise.
func (n *Form) free() any {
	if n.isText {
		return n.text
	}
	if list := n.items((*Form).free); list != nil && len(n.children) > 0 {
		return list
	}
	m := make(map[string]any, len(n.children))
	for name, child := range n.children {
		m[name] = child.free()
	}
	return m
}

// convert turns a form's text into the type of a scalar. A text that is not of that type stays text, and validate
// reports the type.
func (t typeSet) convert(text string) any {
	switch {
	case t&(takesInteger|takesNumber) != 0 && IsNumber(text):
		return json.Number(text)
	case t&takesText != 0:
		return text
	case t&takesBoolean != 0:
		switch text {
		case "1", "true":
			return true
		case "0", "false", "":
			return false
		}
	}

	return text
}

// isInteger accepts -?(0|[1-9][0-9]*): 05 is a code, not a number.
func isInteger(s string) bool {
	s = strings.TrimPrefix(s, "-")
	if s == "" || len(s) > 1 && s[0] == '0' {
		return false
	}
	return digits(s) == len(s)
}

// IsNumber reports whether a text is a number as JSON writes it.
func IsNumber(s string) bool {
	whole := strings.TrimPrefix(s, "-")
	n := digits(whole)
	if n == 0 || n > 1 && whole[0] == '0' {
		return false
	}

	rest := whole[n:]
	if fraction, ok := strings.CutPrefix(rest, "."); ok {
		n = digits(fraction)
		if n == 0 {
			return false
		}
		rest = fraction[n:]
	}

	if rest == "" {
		return true
	}
	if rest[0]|0x20 != 'e' {
		return false
	}

	rest = rest[1:]
	if rest != "" && (rest[0] == '+' || rest[0] == '-') {
		rest = rest[1:]
	}

	return rest != "" && digits(rest) == len(rest)
}

// digits counts the decimal digits that a text begins with.
func digits(s string) int {
	for i := range len(s) {
		if s[i]-'0' > 9 {
			return i
		}
	}
	return len(s)
}
