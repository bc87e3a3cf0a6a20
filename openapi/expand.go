package openapi

import (
	"fmt"
	"slices"
	"strings"
)

// FilterMaxLength is the greatest length of a filter's text, in characters.
const FilterMaxLength = 1024

// operators are the operators of the Display grammar in the order of the documents; the empty one is short for eq.
var operators = []string{"", "eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"}

// sentences describe the operators of a kind; WHAT is the subject, NAME the parameter.
var sentences = map[string]map[string]string{
	"text": {
		"": "WHAT is this; short for `NAME.eq`.", "eq": "WHAT is this.", "ne": "WHAT is not this.",
		"in": "WHAT is one of these; separate them by commas.", "nin": "WHAT is none of these; separate them by commas.",
	},
	"integer": {
		"": "WHAT is this; short for `NAME.eq`.", "eq": "WHAT is this.", "ne": "WHAT is not this.",
		"gt": "WHAT is above this.", "gte": "WHAT is at least this.", "lt": "WHAT is below this.",
		"lte": "WHAT is at most this.",
		"in":  "WHAT is one of these; separate them by commas.", "nin": "WHAT is none of these; separate them by commas.",
	},
	"instant": {
		"": "WHAT falls on this day; short for `NAME.eq`.", "eq": "WHAT falls on this day.",
		"ne": "WHAT does not fall on this day.",
		"gt": "WHAT is after this.", "gte": "WHAT is this or later.", "lt": "WHAT is before this.",
		"lte": "WHAT is this or earlier.",
		"in":  "WHAT falls on one of these days; separate them by commas.",
		"nin": "WHAT falls on none of these days; separate them by commas.",
	},
}

// describe gives the sentences of a filter, by operator.
func (f Filter) describe() map[string]string {
	if of, own := sentences[f.Kind]; own {
		return of
	}
	return sentences["text"]
}

// Expand rewrites the parameters of the filters in a document. A filter that has a subject is defined for each
// operator that at least one operation takes, and each operation refers to its own. The rest of the document stays as
// it is. It fails for an operation that the document does not have.
func (f Filters) Expand(document []byte) ([]byte, error) {
	lines := strings.Split(string(document), "\n")
	keys := make([]string, 0, len(f.Parameters))
	for key := range f.Parameters {
		keys = append(keys, key)
	}

	slices.Sort(keys)
	for _, key := range keys {
		if f.Parameters[key].What != "" {
			lines = define(lines, key, f.Parameters[key], f.taken(key))
		}
	}

	defined := map[string]bool{}
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, "    "); ok {
			name, _, _ := strings.Cut(rest, ":")
			defined[name] = true
		}
	}

	operations := make([]string, 0, len(f.Operations))
	for operation := range f.Operations {
		operations = append(operations, operation)
	}

	slices.Sort(operations)
	for _, operation := range operations {
		var err error
		if lines, err = refer(lines, operation, f.Operations[operation], defined); err != nil {
			return nil, err
		}
	}

	return []byte(strings.Join(lines, "\n")), nil
}

// taken gives the operators of a filter that at least one operation takes.
func (f Filters) taken(parameter string) map[string]bool {
	taken := map[string]bool{}
	for _, entries := range f.Operations {
		for _, entry := range entries {
			key, without := but(entry)
			for _, operator := range operators {
				if key == parameter && !slices.Contains(without, operator) {
					taken[operator] = true
				}
			}
		}
	}
	return taken
}

// withOperator is the name of a parameter for an operator.
func withOperator(name, operator string) string {
	if operator == "" {
		return name
	}
	return name + "." + operator
}

// define puts the definitions of a filter where they stand already, or after the last parameter. Each takes two
// lines. A definition that no operation takes is removed.
func define(lines []string, key string, f Filter, taken map[string]bool) []string {
	var block []string
	at := -1
	for _, operator := range operators {
		head := "    " + withOperator(key, operator) + ":"
		if i := slices.Index(lines, head); i >= 0 {
			lines = slices.Delete(lines, i, i+2)
			if at < 0 {
				at = i
			}
		}

		sentence, known := f.describe()[operator]
		if !known || !taken[operator] {
			continue
		}

		name, example := withOperator(f.Name, operator), f.Example
		if operator == "in" || operator == "nin" {
			example = f.Several
		}

		description := strings.NewReplacer("WHAT", f.What, "NAME", f.Name).Replace(sentence)
		block = append(block, head, fmt.Sprintf(
			"      {name: %s, in: query, x-filter: true, description: %s, schema: {type: string, maxLength: %d}, example: %s}",
			name, quoted(description), FilterMaxLength, quoted(example)))
	}

	if at < 0 {
		at = endOf(lines, slices.Index(lines, "components:")+1, "  parameters:", "    ")
	}

	return slices.Insert(lines, at, block...)
}

// quoted writes a text as YAML that is always read as a string.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// endOf finds the end of a section: the first line after its head that is not indented like its lines.
func endOf(lines []string, from int, head, indent string) int {
	i := from + slices.Index(lines[from:], head) + 1
	for i < len(lines) && strings.HasPrefix(lines[i], indent) {
		i++
	}
	return i
}

// refer puts an operation's references to its filters where they stand already, or after its last parameter.
func refer(lines []string, operation string, entries []string, defined map[string]bool) ([]string, error) {
	from := slices.Index(lines, "      operationId: "+operation)
	if from < 0 {
		return nil, fmt.Errorf("there is no operation %s", operation)
	}

	head := from + slices.Index(lines[from:], "      parameters:") + 1
	end := endOf(lines, from, "      parameters:", "        - ")
	var block, own []string
	for _, entry := range entries {
		key, without := but(entry)
		for _, operator := range operators {
			name := withOperator(key, operator)
			line := "        - $ref: '#/components/parameters/" + name + "'"
			own = append(own, line)
			if defined[name] && !slices.Contains(without, operator) {
				block = append(block, line)
			}
		}
	}

	at := end
	for i := end - 1; i >= head; i-- {
		if slices.Contains(own, lines[i]) {
			lines, at = slices.Delete(lines, i, i+1), i
		}
	}

	return slices.Insert(lines, min(at, len(lines)), block...), nil
}
