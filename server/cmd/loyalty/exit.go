package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// The exit codes. A failure before a command did anything, such as a wrong setting, is codeUsage.
const (
	codeFailed    = 1
	codeUsage     = 2
	codeUnchecked = 3
)

// coded is a failure with the program's exit code. A nil error ends the program silently.
type coded struct {
	code int
	error
}

func (c coded) Unwrap() error { return c.error }

// failsWith is the annotation of a command that uses codeUsage with another meaning: its value is the exit code for
// failures.
const failsWith = "fails_with"

// endsWith sets the exit code for failures of a command that uses codeUsage with another meaning. A script that reads 2
// as "there are differences" must not see it if there is no database.
func endsWith(code int, cmd *cobra.Command) *cobra.Command {
	cmd.Annotations = map[string]string{failsWith: strconv.Itoa(code)}
	return cmd
}

// codedBy is the failure of a command with its exit code.
func codedBy(cmd *cobra.Command, err error) coded {
	var c coded
	if !errors.As(err, &c) {
		c = coded{codeUsage, err} // cobra's own error: an unknown command, flag or argument
	}
	// without an error the code is the command's result
	if own, err := strconv.Atoi(cmd.Annotations[failsWith]); err == nil && c.error != nil && c.code == codeUsage {
		c.code = own
	}
	return c
}

// oneLine joins the lines of a message.
func oneLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' || r == '\t' })
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "; ")
}
