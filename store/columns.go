package store

import (
	"slices"
	"strings"

	"gorm.io/gorm"
)

// table defines the fields of a row once: each as a column and as its place in a struct of the domain. The program
// derives from it at start what its statements read, insert, update and compare.
//
// Every get returns a pointer into the row as a type of values.go, which reads and writes: a row of the database is a
// row of the domain, and nothing is copied.
type table[R any] struct {
	name   string
	fields []field[R]
	// derived columns are written for the database's indexes and conditions, and never read.
	derived []field[R]
	// besides are values that are read with a row from other tables, and never written: an expression in which $row
	// is the row, and the name of its value.
	besides []field[R]
}

// all are the columns that are written.
func (t table[R]) all() []field[R] { return slices.Concat(t.fields, t.derived) }

// names lists the columns that are read, separated by commas, and the values read besides. Pairs of a column and an
// expression replace that column.
func (t table[R]) names(instead ...string) string {
	list := make([]string, len(t.fields), len(t.fields)+len(t.besides))
	for i, f := range t.fields {
		list[i] = f.name
		if k := slices.Index(instead, f.name); k >= 0 {
			list[i] = instead[k+1]
		}
	}
	for _, f := range t.besides {
		list = append(list, strings.ReplaceAll(f.name, "$row", t.name))
	}
	return strings.Join(list, ", ")
}

// of is names for the table under an alias.
func (t table[R]) of(alias string, instead ...string) string {
	for i := 0; i < len(instead); i += 2 {
		instead[i] = alias + "." + instead[i]
	}
	return table[R]{name: alias, fields: t.qualified(alias), besides: t.besides}.names(instead...)
}

// qualified are the fields with the alias before their names.
func (t table[R]) qualified(alias string) []field[R] {
	fields := slices.Clone(t.fields)
	for i := range fields {
		fields[i].name = alias + "." + fields[i].name
	}
	return fields
}

// set lists the assignments of an UPDATE from v, without the fixed columns.
func (t table[R]) set(fixed ...string) string {
	var list []string
	for _, f := range t.all() {
		if !slices.Contains(fixed, f.name) {
			list = append(list, f.name+" = v."+f.name)
		}
	}
	return strings.Join(list, ", ")
}

// some is the table with some of its columns, in the order of the table, and nothing besides.
func (t table[R]) some(names ...string) table[R] {
	return table[R]{name: t.name, fields: slices.DeleteFunc(slices.Clone(t.fields), func(f field[R]) bool { return !slices.Contains(names, f.name) })}
}

// without is the table without some of its columns, and with nothing besides.
func (t table[R]) without(names ...string) table[R] {
	return table[R]{name: t.name, fields: slices.DeleteFunc(slices.Clone(t.fields), func(f field[R]) bool { return slices.Contains(names, f.name) })}
}

// inserts makes the statement that inserts rows.
func (t table[R]) inserts() *statement[R] { return insertsInto(t.name, t.all()...) }

// through makes fields of an outer struct from those of a row inside it.
func through[T, R any](fields []field[R], of func(*T) *R) []field[T] {
	list := make([]field[T], len(fields))
	for i, f := range fields {
		list[i] = field[T]{f.name, f.pg, func(t *T) any { return f.get(of(t)) }}
	}
	return list
}

// same reports whether two rows have equal columns, by the values of values.go.
func (t table[R]) same(a, b *R) bool {
	for _, f := range t.fields {
		if !f.get(a).(value).same(f.get(b)) {
			return false
		}
	}
	return true
}

// into lists the destinations of a row's columns, after those given as before.
func (t table[R]) into(row *R, before ...any) []any {
	list := slices.Grow(before, len(t.fields)+len(t.besides)+1)
	for _, f := range t.fields {
		list = append(list, f.get(row))
	}
	for _, f := range t.besides {
		list = append(list, f.get(row))
	}
	return list
}

// each reads the rows of a query one by one, into the same memory, until take has enough. The query selects the rows;
// if it also names columns, or is a whole statement, those must be the columns of the table in their order, followed
// by any others.
func (t table[R]) each(q *gorm.DB, take func(*R) (enough bool), more ...any) error {
	if q.Statement.Table == "" {
		q = q.Table(t.name)
	}
	if len(q.Statement.Selects) == 0 {
		q = q.Select(t.names())
	}

	rows, err := q.Rows()
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error

	var row R
	into := append(t.into(&row), more...)
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if take(&row) {
			break
		}
	}

	return rows.Err()
}

// find reads all rows of a query.
func (t table[R]) find(q *gorm.DB) (list []R, err error) {
	err = t.each(q, func(row *R) bool {
		list = append(list, *row)
		return false
	})
	return list, err
}

// create inserts rows by one statement, outside of batches, and returns how many; if it fails, its transaction is
// over. conflict says what happens to rows that exist already.
func (t table[R]) create(db *gorm.DB, rows []R, conflict string) (int64, error) {
	fields := t.all()
	args := make([]any, 0, len(rows)*len(fields))
	for i := range rows {
		for _, f := range fields {
			args = append(args, f.get(&rows[i]))
		}
	}

	values := "(" + strings.Repeat("?, ", len(fields)-1) + "?)"
	verb := "INSERT INTO "
	if db.Name() == "sqlite" {
		verb = "INSERT OR FAIL INTO " // see insertsInto
	}

	text := verb + t.name + " (" + fieldNames(fields) + ") VALUES " + strings.Repeat(values+", ", len(rows)-1) + values
	done := db.Exec(text+conflict, args...)
	return done.RowsAffected, done.Error
}
