package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/loyalty-platform/loyalty/server/intake"
)

// How many findings are printed in all, and how many that say the same of the same column; the file
// of --errors has all of them.
const (
	shownFindings = 100
	shownAlike    = 3
	// counted is of how many different findings the likes are counted.
	counted = 1_000
)

// alike is what findings have in common that differ by their line and value.
type alike struct{ file, column, message string }

func (i *importing) tell(f intake.Finding) {
	if i.errorLog != nil {
		_ = i.errorLog.Write([]string{f.File, strconv.Itoa(f.Line), f.Column, f.Value, f.Message}) // Error tells at the end
	}
	kind := alike{f.File, f.Column, f.Message}
	if _, known := i.likes[kind]; known || len(i.likes) < counted {
		if i.likes[kind]++; i.likes[kind] > shownAlike {
			if i.likes[kind] == shownAlike+1 {
				i.repeated = append(i.repeated, kind)
			}
			return
		}
	}
	if i.findings++; i.findings > shownFindings {
		return
	}
	word := ""
	if f.Warning {
		word = "warning: "
	}
	at := f.File
	if f.Line > 0 {
		at += " line " + strconv.Itoa(f.Line)
	}
	if f.Column != "" {
		at += " " + f.Column
	}
	if f.Value != "" {
		at += fmt.Sprintf(" %q", f.Value)
	}
	fmt.Fprintf(i.cmd.ErrOrStderr(), "%s: %s%s\n", at, word, f.Message)
}

// rest says what was found and not printed.
func (i *importing) rest() {
	more := max(i.findings-shownFindings, 0)
	for n, kind := range i.repeated {
		again := i.likes[kind] - shownAlike
		if n >= shownFindings {
			more += again
			continue
		}
		fmt.Fprintf(i.cmd.ErrOrStderr(), "%s: %d more: %s\n", strings.TrimSpace(kind.file+" "+kind.column), again, kind.message)
	}
	switch {
	case more > 0:
		fmt.Fprintf(i.cmd.ErrOrStderr(), "and %d more; --errors FILE writes all of them\n", more)
	case len(i.repeated) > 0 && i.errorLog == nil:
		fmt.Fprintln(i.cmd.ErrOrStderr(), "--errors FILE writes all of them")
	}
}
