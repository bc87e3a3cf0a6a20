package importer

import "strings"

// passedOver is the name of a column that is not read.
const passedOver = "-"

// longestName bounds the name of a column, in bytes.
const longestName = 255

// shownName is the name of a column in findings.
func shownName(name string) string {
	if name == passedOver {
		return ""
	}
	return name
}

// header reads the names of the columns. Findings give places and no names: in a file without a header, the cells that
// are taken for names are the first customer's.
func (s *sheet) header(cells []string) (told []Finding) {
	columns := len(cells)
	for s.ours("") != passedOver && len(cells) > 1 && trimmed(cells[len(cells)-1]) == "" {
		cells = cells[:len(cells)-1]
	}

	s.named, s.names, s.places = len(cells), make([]string, 0, columns), map[string]int{}

	var nameless, twice, unknown []int
	for i, c := range cells {
		name := s.ours(c)
		switch {
		case name == passedOver:
		case name == "":
			nameless = append(nameless, i+1)
		case !s.kind.knows(name):
			unknown = append(unknown, i+1)
		case s.has(name):
			twice = append(twice, i+1)
		default:
			s.places[name] = i
		}
		s.names = append(s.names, name)
	}

	for len(s.names) < columns {
		s.names = append(s.names, passedOver)
	}

	for _, f := range []struct {
		at   []int
		text Words
	}{
		{nameless, say("columns_nameless", args{"places": nameless})},
		{unknown, say("columns_unknown", args{"places": unknown, "columns": s.kind.listed()})},
		{twice, say("columns_twice", args{"places": twice})},
	} {
		if len(f.at) > 0 {
			told = append(told, s.finding("", "", f.text))
		}
	}

	return append(told, s.missing()...)
}

// ours is our column for a name in the file; passedOver if it is not read.
func (s *sheet) ours(theirs string) string {
	name := strings.ToLower(trimmed(theirs))
	ours, named := s.mapped[name]
	if !named {
		if _, rest := s.mapped[others]; rest {
			return passedOver
		}
		return name
	}
	if ours == "" {
		return passedOver
	}
	return ours
}

// missing reports missing mandatory columns. A member may be named by e-mail instead.
func (s *sheet) missing() (told []Finding) {
	for _, c := range s.kind.columns {
		byEmail := c.name == "customer" && s.kind.byEmail && s.has("email")
		if c.needed && !s.has(c.name) && !byEmail {
			told = append(told, s.finding(c.name, "", say("column_missing", nil)))
		}
	}
	return told
}
