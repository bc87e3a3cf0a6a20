package main

import "strings"

// The exit codes. Everything that stops a command before it did anything, such
// as a wrong setting, is codeUsage.
const (
	codeFailed    = 1
	codeUsage     = 2
	codeUnchecked = 3
)

// coded is a failure with the exit code it ends the program with. A nil error
// ends it silently.
type coded struct {
	code int
	error
}

func (c coded) Unwrap() error { return c.error }

// oneLine joins the lines of a message, which libraries like to break.
func oneLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' || r == '\t' })
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "; ")
}
