package store

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// word matches a value that may stand in the text of a statement, such as a state, an action or a language.
var word = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

// is adds the condition that a column has one of its few values. A word stands in the text. For a parameter,
// PostgreSQL would keep one plan for all values and consider them equally frequent: it would search for a rare value
// along another index, through all rows with other values.
func (w sqlFragment) is(column string, value any) sqlFragment {
	if text, ok := words([]any{value}); ok {
		return w.and(column + " = " + text)
	}
	return w.and(column+" = ?", value)
}

// words writes values into a text, if all of them are words.
func words(values []any) (text string, ok bool) {
	quoted := make([]string, len(values))
	for i, v := range values {
		value, isText := v.(string)
		if !isText || !word.MatchString(value) {
			return "", false
		}
		quoted[i] = "'" + value + "'"
	}
	return strings.Join(quoted, ", "), len(quoted) > 0
}

// inWords is the condition that a column of few values has one of some, with these in the text; see is.
func (c filterColumn) inWords(condition loyalty.Condition, operator string) (text string, ok bool) {
	if !c.few || !positive(condition) {
		return "", false
	}
	values := make([]any, len(condition.Values))
	for i, v := range condition.Values {
		values[i] = c.value(v)
	}
	text, ok = words(values)
	if condition.Operator == loyalty.In {
		text = fmt.Sprintf("(%s)", text)
	}
	return c.sql(strings.Replace(operator, "?", text, 1)), ok
}
