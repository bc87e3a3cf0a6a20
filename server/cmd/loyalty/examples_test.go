package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// TestEveryCommandHasExamples: the help of every command has examples, and the command accepts each of them: its name,
// its flags with their values, its arguments.
func TestEveryCommandHasExamples(t *testing.T) {
	named := map[string]bool{}
	for line := range strings.Lines(examples) {
		if !strings.HasPrefix(line, " ") && !strings.HasPrefix(line, "#") {
			named[strings.TrimSpace(line)] = true
		}
	}

	var leaves int
	var walk func(path []string)
	walk = func(path []string) {
		cmd, rest, err := newRoot().Find(path)
		require.NoError(t, err, path)
		require.Empty(t, rest)
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() && sub.Name() != "help" {
				walk(append(path[:len(path):len(path)], sub.Name()))
			}
		}

		if name := strings.Join(path, " "); !cmd.HasAvailableSubCommands() {
			leaves++
			require.NotEmpty(t, cmd.Example, name)
			delete(named, name)
		}

		for line := range strings.Lines(cmd.Example) {
			require.True(t, strings.HasPrefix(line, "  "), line)
			for _, call := range callsIn(t, line) {
				takes(t, call, line)
			}
		}
	}

	walk(nil)
	require.Empty(t, named, "examples of commands that there are not")
	require.Greater(t, leaves, 45)
	require.Contains(t, string(manual(newRoot())), `loyalty export purchases \-\-from 2026\-10\-01`)
}

// callsIn gives the arguments of each call of the program in a line of a shell.
func callsIn(t *testing.T, line string) (calls [][]string) {
	for _, part := range strings.Split(line, " | ") {
		part = regexp.MustCompile(` >>? .*`).ReplaceAllString(part, "")
		var words []string
		for _, word := range regexp.MustCompile(`(?:'[^']*'|[^\s'])+`).FindAllString(part, -1) {
			words = append(words, strings.ReplaceAll(word, "'", ""))
		}
		for len(words) > 0 && regexp.MustCompile(`^LOYALTY_[A-Z_]+=`).MatchString(words[0]) {
			name, _, _ := strings.Cut(words[0], "=")
			require.Contains(t, variables(newRoot()), name)
			words = words[1:]
		}
		if len(words) > 0 && words[0] == "loyalty" {
			calls = append(calls, words[1:])
		}
	}

	require.NotEmpty(t, calls, line)
	return calls
}

// takes holds a call against the command that it names.
func takes(t *testing.T, call []string, line string) {
	cmd, rest, err := newRoot().Find(call)
	require.NoError(t, err, line)
	require.True(t, cmd.Runnable(), line)
	require.NoError(t, cmd.ParseFlags(rest), line)
	require.NoError(t, cmd.ValidateRequiredFlags(), line)
	require.NoError(t, cmd.ValidateFlagGroups(), line)
	require.NoError(t, cmd.ValidateArgs(cmd.Flags().Args()), line)
	if len(cmd.ValidArgs) > 0 {
		require.NoError(t, cobra.OnlyValidArgs(cmd, cmd.Flags().Args()), line)
	}
}

// TestTheManualNamesEveryCommandAndSetting holds the operator's manual against the program: every
// command that an operator types, and every variable of a server with a row in the table.
func TestTheManualNamesEveryCommandAndSetting(t *testing.T) {
	text, err := os.ReadFile("../../portal/assets/guide/operating.md")
	require.NoError(t, err)
	manual := string(text)
	root := newRoot()
	for _, cmd := range root.Commands() {
		require.True(t, regexp.MustCompile(`loyalty `+cmd.Name()+`\b`).MatchString(manual), "no word of loyalty %s", cmd.Name())
	}

	root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
		for _, name := range f.Annotations[inEnvironment] {
			require.True(t, strings.Contains(manual, "| `"+name+"` |"), "no row for %s", name)
		}
	})

	for _, row := range regexp.MustCompile("(?m)^\\| `(LOYALTY_[A-Z_]+)` \\|").FindAllStringSubmatch(manual, -1) {
		require.Contains(t, variables(root), row[1], "the manual has a setting that no command reads")
	}
}
