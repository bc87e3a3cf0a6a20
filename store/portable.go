package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loyalty-platform/loyalty/store/citus"
	"github.com/loyalty-platform/loyalty/store/schema"
)

// portable copies whole databases: every row of every table as of one instant, from either database and into either.
type portable struct{ *database }

// A Kind is how an archive writes the values of a column. Both databases can store each kind: a boolean of one is 0
// or 1 in the other, and an id is its 16 bytes.
type Kind string

// The kinds of columns.
const (
	KindNumber Kind = "number" // integers
	KindText   Kind = "text"
	KindBytes  Kind = "bytes"
)

// Column is a column of a table.
type Column struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
	// own is PostgreSQL's name of the type; key is the place in the primary key, from 1.
	own string
	key int
}

// Table is a table with its columns in the order of their names, which is the same in both databases.
type Table struct {
	Name    string   `json:"name"`
	Columns []Column `json:"columns"`
}

// names lists the columns.
func (t Table) names() string {
	list := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		list[i] = c.Name
	}
	return strings.Join(list, ", ")
}

// order is the primary key, by which both databases sort rows alike: numbers as numbers, texts by code point, bytes
// as bytes.
func (t Table) order() string {
	key := slices.DeleteFunc(slices.Clone(t.Columns), func(c Column) bool { return c.key == 0 })
	slices.SortFunc(key, func(a, b Column) int { return a.key - b.key })
	return Table{Columns: key}.names()
}

// Equal reports whether two tables have the same columns of the same kinds.
func (t Table) Equal(other Table) bool {
	return t.Name == other.Name && slices.EqualFunc(t.Columns, other.Columns, func(a, b Column) bool { return a.Name == b.Name && a.Kind == b.Kind })
}

// carrier is what the databases do differently when rows are copied.
type carrier interface {
	// still passes a view of one instant.
	still(ctx context.Context, read func(look) error) error
	// fill is one transaction that inserts.
	fill(ctx context.Context, write func(loading) error) error
	// monthsSince creates the months of the journal from an instant on.
	monthsSince(ctx context.Context, first, now time.Time) error
	// analyze makes the planner look at the new rows.
	analyze(ctx context.Context) error
}

// look reads tables.
type look interface {
	// tables lists the tables of the schema, without partitions and the migrations' own.
	tables() ([]string, error)
	columns(table string) ([]Column, error)
	// rows reads the columns of a query, whose values are nil, int64, string or []byte and are valid until take
	// returns.
	rows(query string, columns []Column, take func([]any) error) error
	// size is roughly how many rows a table has; -1: there is no such table.
	size(table string) (int64, error)
}

// loading fills tables.
type loading interface {
	look
	exec(text string) error
	insert(t Table, next func() ([]any, error)) error
}

// Still is a view of every row as of one instant.
type Still struct {
	Schema int64 // the newest migration
	Tables []Table
	look   look
}

// Rows reads the rows of a table in the order of its key. A value is nil, int64, string or []byte, and valid until
// take returns.
func (s *Still) Rows(t Table, take func([]any) error) error {
	return s.look.rows("SELECT "+t.names()+" FROM "+t.Name+" ORDER BY "+t.order(), t.Columns, take)
}

// Count returns how many rows a table has.
func (s *Still) Count(t Table) (count int64, err error) { return rowsOf(s.look, t.Name) }

func rowsOf(l look, table string) (count int64, err error) {
	err = l.rows("SELECT count(*) FROM "+table, []Column{{Kind: KindNumber}}, func(row []any) error {
		count, _ = row[0].(int64)
		return nil
	})
	return count, err
}

// Still reads a database that has this program's schema, as of one instant. It does not block writers.
func (p portable) Still(ctx context.Context, read func(*Still) error) error {
	if err := p.current(ctx); err != nil {
		return err
	}
	version, err := p.schemaVersion(ctx)
	if err != nil {
		return p.classify(err)
	}
	return p.stillAt(ctx, version, read)
}

// stillAt is Still for a schema that need not be this program's.
func (p portable) stillAt(ctx context.Context, version int64, read func(*Still) error) error {
	return p.classify(p.still(ctx, func(l look) error {
		s := &Still{Schema: version, look: l}
		var err error
		if s.Tables, err = tablesOf(l); err != nil {
			return err
		}
		return read(s)
	}))
}

// tablesOf returns the tables of a database that archives have, in the order of schema.Tables. An unknown table is an
// error, because an archive without it would be incomplete.
func tablesOf(l look) ([]Table, error) {
	there, err := l.tables()
	if err != nil {
		return nil, err
	}

	var list []Table
	for i := range schema.Tables {
		known := &schema.Tables[i]
		if known.Rows == schema.Local || !slices.Contains(there, known.Name) { // one that is not there is of a later schema
			continue
		}

		t := Table{Name: known.Name}
		if t.Columns, err = l.columns(known.Name); err != nil {
			return nil, err
		}

		slices.SortFunc(t.Columns, func(a, b Column) int { return strings.Compare(a.Name, b.Name) })
		if t.order() == "" {
			return nil, fmt.Errorf("table %s has no primary key to order its rows by", t.Name)
		}

		list = append(list, t)
	}

	for _, name := range there {
		if !belongs(name) {
			return nil, fmt.Errorf("table %s is not one of the programme's (schema.Tables); it would be left behind", name)
		}
	}

	return list, nil
}

// belongs reports whether the program made a table: with its schema, for a spread database, or during a restore.
func belongs(table string) bool {
	return schema.Find(table) != nil || table == schema.Restoring || slices.Contains(citus.Finders(), table)
}

// ErrNotEmpty says that a database to be filled is not empty.
var ErrNotEmpty = errors.New("the database is not empty")

// Filling is an empty database that is being filled.
type Filling struct {
	Tables  []Table
	loading loading
}

// Mark marks the database as one whose restore has not ended.
func (f *Filling) Mark() error { return f.loading.exec(schema.CreateRestoring) }

// Insert fills a table with the rows that next returns until it fails; io.EOF is the end. A value is nil, int64,
// string or []byte, in the order of the table's columns.
func (f *Filling) Insert(t Table, next func() ([]any, error)) error { return f.loading.insert(t, next) }

// Fill migrates an empty database to a schema that need not be the newest, and fills it in one transaction: a crash
// leaves an empty database. journal is the instant of the first event to come. It fails with ErrNotEmpty.
func (p portable) Fill(ctx context.Context, target int64, journal time.Time, fill func(*Filling) error) error {
	version, err := p.schemaVersion(ctx)
	if err != nil {
		return p.classify(err)
	}
	if version > target {
		return fmt.Errorf("%w: it has schema %d, and the archive has %d", ErrNotEmpty, version, target)
	}

	if version > 0 { // otherwise it is empty
		if err := p.stillAt(ctx, version, mustBeEmpty); err != nil {
			return err
		}
	}

	goose, err := p.migrations()
	if err != nil {
		return err
	}
	if _, err := goose.UpTo(ctx, target); err != nil {
		return fmt.Errorf("migrate to %d: %w", target, p.classify(err))
	}
	if err := p.monthsSince(ctx, journal, p.now()); err != nil {
		return p.classify(err)
	}

	return p.classify(p.fill(ctx, func(l loading) error { return p.pour(l, fill) }))
}

func mustBeEmpty(s *Still) error {
	for _, t := range s.Tables {
		if seeded(t.Name) {
			continue
		}
		n, err := s.Count(t)
		if err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("%w: table %s has %d rows", ErrNotEmpty, t.Name, n)
		}
	}
	return nil
}

func seeded(table string) bool {
	t := schema.Find(table)
	return t != nil && t.Rows == schema.Seeded
}

// pour fills the tables, after deleting the rows that the migrations inserted. It fails if another process has filled
// them meanwhile.
func (p portable) pour(l loading, fill func(*Filling) error) error {
	tables, err := tablesOf(l)
	if err != nil {
		return err
	}
	if err := mustBeEmpty(&Still{Tables: tables, look: l}); err != nil {
		return err
	}

	for _, t := range tables {
		if seeded(t.Name) {
			if err := l.exec("DELETE FROM " + t.Name); err != nil {
				return err
			}
		}
	}

	return fill(&Filling{tables, l})
}

// Filled reads what was filled in, at its schema.
func (p portable) Filled(ctx context.Context, read func(*Still) error) error {
	version, err := p.schemaVersion(ctx)
	if err != nil {
		return p.classify(err)
	}
	if err := p.analyze(ctx); err != nil {
		return p.classify(err)
	}
	return p.stillAt(ctx, version, read)
}
