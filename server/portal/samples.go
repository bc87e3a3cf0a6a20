package portal

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// language is a language of the samples, with the client on the page about signing and the call of it.
type language struct {
	name   string
	fence  string // of code in Markdown
	client string // file of the client; empty: the loyalty program
	call   func(c call, once string) string
}

var languages = []language{
	{"Shell", "sh", "", shellCall},
	{"JavaScript", "js", "clients/client.mjs", func(c call, once string) string {
		return "const [status, answer] = await send(" + arguments("'%s'", c, once, "undefined", javaScript) + ");"
	}},
	{"Python", "python", "clients/client.py", func(c call, once string) string {
		return "status, answer = send(" + arguments(`"%s"`, c, once, "None", python) + ")"
	}},
	{"PHP", "php", "clients/client.php", func(c call, once string) string {
		return "[$status, $answer] = send(" + arguments("'%s'", c, once, "null", php) + ");"
	}},
	{"Go", "go", "clients/client.go.txt", func(c call, once string) string {
		return fmt.Sprintf("status, answer, err := send(%q, %q, %s, %q)", c.Method, c.Target, goText(c.Body), once)
	}},
}

// samples shows a call in each language.
func samples(c call) string {
	var w strings.Builder
	w.WriteString("\n## Samples\n\nThe shell sample is the program itself; `send` of the others is on the page about [signing](/docs/signing). " +
		"All of them read `LOYALTY_KEY_ID`, `LOYALTY_SECRET` and `LOYALTY_REGION`.\n")
	for _, l := range languages {
		fmt.Fprintf(&w, "\n```%s\n%s\n```\n", l.fence, l.call(c, c.onceKey()))
	}
	return w.String()
}

// onceKey is the Idempotency-Key of a sample; empty if it only reads.
func (c call) onceKey() string {
	if !c.Once {
		return ""
	}
	return c.name + "-0001"
}

// servedAt is the address in the texts that is replaced with the address of the request.
const servedAt = "http://127.0.0.1:8080"

func shellCall(c call, once string) string {
	text := fmt.Sprintf("loyalty sign %s '%s' --send", c.Method, servedAt+c.Target)
	if once != "" {
		text += fmt.Sprintf(" \\\n  --header 'Idempotency-Key: %s'", once)
	}
	if c.Body != "" {
		text += " \\\n  --data '" + strings.ReplaceAll(c.Body, "'", `'\''`) + "'"
	}
	return text
}

// arguments are the arguments of send in a language: quoted formats a plain text, nothing is its null, and value writes
// a value.
func arguments(quoted string, c call, once, nothing string, value func(v any, indent string) string) string {
	all := []string{fmt.Sprintf(quoted, c.Method), fmt.Sprintf(quoted, c.Target)}
	switch {
	case c.value != nil:
		all = append(all, value(plainValue(c.value), ""))
	case once != "":
		all = append(all, nothing)
	}
	if once != "" {
		all = append(all, fmt.Sprintf(quoted, once))
	}
	return strings.Join(all, ", ")
}

// plainValue is a value of the documents with its numbers as written.
func plainValue(v any) any {
	d := json.NewDecoder(strings.NewReader(asJSON(v, "")))
	d.UseNumber()
	var plain any
	if err := d.Decode(&plain); err != nil { // it was written a moment ago
		panic(err)
	}
	return plain
}

func goText(body string) string {
	if body == "" || strings.Contains(body, "`") {
		return strconv.Quote(body)
	}
	return "`" + body + "`"
}

// notation is how a language writes values.
type notation struct {
	yes, no, nothing, open, closed, arrow, empty string
	text                                         func(string) string
}

var (
	pythonNotation = notation{"True", "False", "None", "{", "}", ": ", "{}", quoteJSON}
	phpNotation    = notation{"true", "false", "null", "[", "]", " => ", "new stdClass()", func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
	}}
)

func javaScript(v any, _ string) string  { return asJSON(v, "  ") }
func python(v any, indent string) string { return pythonNotation.write(v, indent) }
func php(v any, indent string) string    { return phpNotation.write(v, indent) }
func quoteJSON(s string) string          { return asJSON(s, "") }

// write writes a value, an object or a list with a line for each entry.
func (n notation) write(v any, indent string) string {
	inner := indent + "  "
	switch v := v.(type) {
	case nil:
		return n.nothing
	case bool:
		if v {
			return n.yes
		}
		return n.no

	case json.Number:
		return v.String()
	case string:
		return n.text(v)
	case []any:
		if len(v) == 0 {
			return "[]"
		}
		rows := make([]string, len(v))
		for i, one := range v {
			rows[i] = inner + n.write(one, inner)
		}
		return "[\n" + strings.Join(rows, ",\n") + "\n" + indent + "]"
	}

	object := v.(map[string]any)
	if len(object) == 0 {
		return n.empty
	}

	var rows []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		rows = append(rows, inner+n.text(name)+n.arrow+n.write(object[name], inner))
	}

	return n.open + "\n" + strings.Join(rows, ",\n") + "\n" + indent + n.closed
}
