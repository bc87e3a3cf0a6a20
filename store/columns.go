package store

import (
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// table is where the fields of a row are written down, once: each of them as a column
// and as the place that it has in a struct of the domain. What a statement reads,
// inserts, updates or compares is made of it, when the program starts.
//
// Every get gives a pointer into the row as a type of values.go, which reads and
// writes: a row of the database is a row of the domain, and nothing is copied.
type table[R any] struct {
	name   string
	fields []field[R]
}

// names lists the columns.
func (t table[R]) names() string { return fieldNames(t.fields) }

// of lists the columns of the table under another name. Pairs of a column and an
// expression say what is read instead.
func (t table[R]) of(alias string, instead ...string) string {
	list := make([]string, len(t.fields))
	for i, f := range t.fields {
		list[i] = alias + "." + f.name
		if k := slices.Index(instead, f.name); k >= 0 {
			list[i] = instead[k+1]
		}
	}
	return strings.Join(list, ", ")
}

// set lists the assignments of an UPDATE out of v, all but the columns that stay.
func (t table[R]) set(fixed ...string) string {
	var list []string
	for _, f := range t.fields {
		if !slices.Contains(fixed, f.name) {
			list = append(list, f.name+" = v."+f.name)
		}
	}
	return strings.Join(list, ", ")
}

// some is the table with some of its columns only.
func (t table[R]) some(names ...string) table[R] {
	fields := make([]field[R], len(names))
	for i, name := range names {
		fields[i] = t.fields[slices.IndexFunc(t.fields, func(f field[R]) bool { return f.name == name })]
	}
	return table[R]{t.name, fields}
}

// inserts makes the statement that inserts rows.
func (t table[R]) inserts() *statement[R] {
	return inserts(`INSERT INTO `+t.name+` (`+t.names()+`) SELECT * FROM v`, t.fields...)
}

// through takes the fields of a row that is a part of another one.
func through[T, R any](fields []field[R], of func(*T) *R) []field[T] {
	list := make([]field[T], len(fields))
	for i, f := range fields {
		list[i] = field[T]{f.name, f.pg, func(t *T) any { return f.get(of(t)) }}
	}
	return list
}

// into is where the columns of a row are read to.
func (t table[R]) into(row *R) []any {
	list := make([]any, len(t.fields), len(t.fields)+2)
	for i, f := range t.fields {
		list[i] = f.get(row)
	}
	return list
}

// each reads the rows of a query one by one, until take has enough. The query says
// which rows; where it is a whole statement, that reads the columns of the table in
// their order.
func (t table[R]) each(q *gorm.DB, take func(*R) (enough bool)) error {
	rows, err := q.Table(t.name).Select(t.names()).Rows()
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err tells what went wrong
	var row R
	into := t.into(&row)
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

// page reads the rows of a page, and ends behind the one with which they are too many
// bytes; see maxRead.
func (t table[R]) page(q *gorm.DB) (list []R, err error) {
	size := 0
	err = t.each(q, func(row *R) bool {
		enough := size > maxRead
		list, size = append(list, *row), size+loyalty.Weight(row)
		return enough
	})
	return list, err
}

// create inserts rows by one statement of GORM's, outside of batches.
func (t table[R]) create(db *gorm.DB, rows []R) error {
	args := make([]any, 0, len(rows)*len(t.fields))
	for i := range rows {
		args = append(args, t.into(&rows[i])...)
	}
	values := "(" + strings.Repeat("?, ", len(t.fields)-1) + "?)"
	text := "INSERT INTO " + t.name + " (" + t.names() + ") VALUES " + strings.Repeat(values+", ", len(rows)-1) + values
	return db.Exec(text, args...).Error
}
