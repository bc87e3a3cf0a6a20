package migrations

import (
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Step is one statement of a migration, with its effect on waiting sessions.
type Step struct {
	What  string // in words
	Table string // the table whose rows are read or locked; empty: none
	Cost  Cost
	Lock  string // PostgreSQL's lock on the table; empty: none that others notice
}

// Cost says what the time of a step depends on.
type Cost int

// The costs.
const (
	AtOnce  Cost = iota // changes only the catalogue
	Indexes             // sorts the rows into an index
	Writes              // writes the rows, or as many others
	Unknown             // must be read by an operator
)

// The locks of PostgreSQL, in words: what waits for them.
const (
	lockAll    = "ACCESS EXCLUSIVE: reads and writes wait"
	lockWrites = "SHARE: writes wait"
	lockRows   = "ROW EXCLUSIVE: only who writes the same rows waits"
)

// Version is the number that a file's name begins with; 0: none.
func Version(name string) int64 {
	number, _, _ := strings.Cut(path.Base(name), "_")
	v, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0
	}
	return v
}

// Steps reads what a migration of a dialect (sqlite, postgres) does on its way up.
func Steps(dialect, name string) ([]Step, error) {
	text, err := fs.ReadFile(Files, dialect+"/"+path.Base(name))
	if err != nil {
		return nil, err
	}

	up, _, _ := strings.Cut(string(text), "-- +goose Down")
	created := map[string]bool{}
	var steps []Step
	for _, s := range statements(up) {
		step := read(s)
		if step.Table != "" && created[step.Table] {
			continue // a table of this migration has no rows, and no session waits for it
		}
		if m := newTable.FindStringSubmatch(s); m != nil {
			created[strings.ToLower(m[1])] = true
		}
		steps = append(steps, step)
	}

	return steps, nil
}

// statements cuts a file into statements, without comments and extra blanks. The text between StatementBegin and
// StatementEnd is one statement.
func statements(text string) (list []string) {
	var s strings.Builder
	whole := false
	end := func() {
		if one := strings.Join(strings.Fields(s.String()), " "); one != "" {
			list = append(list, strings.TrimSuffix(one, ";"))
		}
		s.Reset()
	}

	for line := range strings.Lines(text) {
		switch trimmed := strings.TrimSpace(line); {
		case strings.HasPrefix(trimmed, "-- +goose StatementBegin"):
			whole = true
		case strings.HasPrefix(trimmed, "-- +goose StatementEnd"):
			whole = false
			end()
		default:
			code, _, _ := strings.Cut(line, "--")
			s.WriteString(code + " ")
			if !whole && strings.HasSuffix(strings.TrimSpace(code), ";") {
				end()
			}
		}
	}

	end()
	return list
}

var (
	newTable = regexp.MustCompile(`(?i)^CREATE TABLE (?:IF NOT EXISTS )?(\w+)`)
	source   = regexp.MustCompile(`(?i)\bFROM (\w+)`)
)

// patterns tell statements apart, in order. A group names the table or the object that is made.
var patterns = []struct {
	match *regexp.Regexp
	what  string
	table int // the group with the table; 0: none
	cost  Cost
	lock  string
}{
	{newTable, "makes table $1", 0, AtOnce, ""},
	{regexp.MustCompile(`(?i)^CREATE (?:OR REPLACE )?VIEW (\w+)`), "makes view $1", 0, AtOnce, ""},
	{regexp.MustCompile(`(?i)^CREATE (?:UNIQUE )?INDEX CONCURRENTLY (?:IF NOT EXISTS )?(\w+) ON (\w+)`), "makes index $1 of $2", 2, Indexes, ""},
	{regexp.MustCompile(`(?i)^CREATE (?:UNIQUE )?INDEX (?:IF NOT EXISTS )?(\w+) ON (\w+)`), "makes index $1 of $2", 2, Indexes, lockWrites},
	{regexp.MustCompile(`(?i)^ALTER TABLE (\w+) .*(?:\bTYPE\b|SET NOT NULL|STORED$|ADD CONSTRAINT|ADD CHECK|ADD PRIMARY|ADD UNIQUE)`), "changes columns of $1", 1, Writes, lockAll},
	{regexp.MustCompile(`(?i)^ALTER TABLE (\w+)`), "changes $1 in the catalogue", 1, AtOnce, lockAll},
	{regexp.MustCompile(`(?i)^ALTER INDEX (\w+)`), "changes index $1 in the catalogue", 0, AtOnce, ""},
	{regexp.MustCompile(`(?i)^DROP TABLE (?:IF EXISTS )?(.+)`), "drops $1", 0, AtOnce, lockAll},
	{regexp.MustCompile(`(?i)^DROP INDEX (?:IF EXISTS )?(.+)`), "drops index $1", 0, AtOnce, lockAll},
	{regexp.MustCompile(`(?i)^CREATE (?:OR REPLACE )?TRIGGER (\w+) .*? ON (\w+)`), "makes trigger $1 of $2", 2, AtOnce, "SHARE ROW EXCLUSIVE: writes wait"},
	{regexp.MustCompile(`(?i)^DROP TRIGGER (?:IF EXISTS )?(\w+)`), "drops trigger $1", 0, AtOnce, lockAll},
	{regexp.MustCompile(`(?i)^(?:CREATE|CREATE OR REPLACE|DROP) FUNCTION (?:IF EXISTS )?(\w+)`), "changes function $1", 0, AtOnce, ""},
	{regexp.MustCompile(`(?i)^UPDATE (\w+)`), "changes rows of $1", 1, Writes, lockRows},
	{regexp.MustCompile(`(?i)^DELETE FROM (\w+)`), "deletes rows of $1", 1, Writes, lockRows},
	{regexp.MustCompile(`(?i)^TRUNCATE (.+)`), "empties $1", 0, AtOnce, lockAll},
	{regexp.MustCompile(`(?i)^INSERT INTO (\w+).*\bVALUES\b`), "adds rows to $1", 0, AtOnce, ""},
	{regexp.MustCompile(`(?i)^SELECT 1$`), "does nothing", 0, AtOnce, ""},
}

// fills matches an INSERT; with a SELECT it fills a table from another one.
var fills = regexp.MustCompile(`(?i)^INSERT INTO (\w+)`)

func read(statement string) Step {
	if m := fills.FindStringSubmatch(statement); m != nil && !strings.Contains(strings.ToUpper(statement), " VALUES ") {
		step := Step{What: "fills " + m[1], Cost: AtOnce}
		if from := source.FindStringSubmatch(statement); from != nil {
			step = Step{What: "fills " + m[1] + " from " + from[1], Table: strings.ToLower(from[1]), Cost: Writes}
			if strings.Contains(statement, "EXISTS (SELECT") {
				step.Cost = AtOnce // it only tests whether there is a row
			}
		}
		return step
	}

	for _, p := range patterns {
		m := p.match.FindStringSubmatchIndex(statement)
		if m == nil {
			continue
		}
		step := Step{What: string(p.match.ExpandString(nil, p.what, statement, m)), Cost: p.cost, Lock: p.lock}
		if p.table > 0 {
			step.Table = strings.ToLower(statement[m[2*p.table]:m[2*p.table+1]])
		}
		return step
	}

	return Step{What: "does: " + statement[:min(len(statement), 80)], Cost: Unknown}
}
