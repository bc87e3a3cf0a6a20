package schema

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// Step is something that a migration does to tables which may have rows, as a comment of its file says it.
type Step struct {
	What  string // in words
	Table string // the table whose rows are read or written; empty: none
	Work  Work
	Waits string // which sessions wait on PostgreSQL; empty: none that notice
}

// Work says what the time of a step depends on.
type Work int

// The kinds of work.
const (
	AtOnce   Work = iota // changes only the catalogue
	Indexes              // sorts the rows into an index
	Rewrites             // writes the rows, or as many others
)

// costForm is the form of a cost:
//
//	-- cost: at once
//	-- cost: indexes customers; writes wait
//	-- cost: rewrites customers; reads and writes wait
//
// A file has one line for each step, anywhere before -- +goose Down. Each step may say that sessions wait.
var costForm = regexp.MustCompile(`^-- cost: (at once|(indexes|rewrites) ([a-z_]+))(?:; ((?:reads and )?writes wait))?$`)

// Steps reads the costs of a migration of a dialect (sqlite, postgres). It fails for a file without any, and for a line
// that begins like a cost and has another form.
func Steps(dialect, name string) (steps []Step, err error) {
	file := dialect + "/" + path.Base(name)
	text, err := fs.ReadFile(Files, file)
	if err != nil {
		return nil, err
	}

	up, _, _ := strings.Cut(string(text), "-- +goose Down")
	for line := range strings.Lines(up) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "-- cost") {
			continue
		}
		m := costForm.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("%s: %q is not a cost, such as: -- cost: rewrites customers; writes wait", file, line)
		}
		work := map[string]Work{"indexes": Indexes, "rewrites": Rewrites}[m[2]]
		steps = append(steps, Step{What: m[1], Table: m[3], Work: work, Waits: m[4]})
	}

	if len(steps) == 0 {
		return nil, fmt.Errorf("%s: says no cost, such as: -- cost: at once", file)
	}

	return steps, nil
}
