package store

import (
	"context"
	"reflect"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// question is a statement that reads, and what to do with its answer. Several of them travel together: see ask.
type question struct {
	sqlFragment
	// citus replaces the statement where tables are distributed; nil: it is the same.
	citus *sqlFragment
	// into returns the destinations of a row's columns. It is called once, with their names.
	into func(columns []string) ([]any, error)
	// each is called for each row until enough; the remaining rows are skipped.
	each func() (enough bool)
}

// read takes the rows of the answer of either database, until each has enough.
func (q *question) read(columns []string, rows interface {
	Next() bool
	Scan(into ...any) error
	Err() error
},
) error {
	into, err := q.into(columns)
	if err != nil {
		return err
	}

	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if q.each() {
			return nil
		}
	}

	return rows.Err()
}

// ask runs some questions on one snapshot, and then, on the same snapshot, those that follow from their answers: one
// round trip each. An error of then is returned unchanged.
func (s *database) ask(ctx context.Context, first []question, then func() ([]question, error)) error {
	if s.told != nil {
		defer func(began time.Time) { s.told(ctx, "read", began) }(time.Now())
	}

	var failed error
	follow := then
	if then != nil {
		follow = func() (list []question, err error) {
			list, failed = then()
			return list, failed
		}
	}

	if err := s.asked(ctx, first, follow); err != nil && failed == nil {
		return s.fault(err)
	}

	return failed
}

// asks is ask for questions without a follow-up.
func (s *database) asks(ctx context.Context, list ...question) error { return s.ask(ctx, list, nil) }

// reads makes a question whose rows have as many columns as into has places.
func (w sqlFragment) reads(each func() (enough bool), into ...any) question {
	return question{sqlFragment: w, into: func([]string) ([]any, error) { return into, nil }, each: each}
}

// onCitus gives a question another text where tables are distributed.
func (q question) onCitus(text string, args ...any) question {
	q.citus = &sqlFragment{text, args}
	return q
}

// one reads a row, if there is one.
func (w sqlFragment) one(into ...any) question {
	return w.reads(func() bool { return true }, into...)
}

// where is a statement that reads rows of the table.
func (t table[R]) where(text string, args ...any) sqlFragment {
	return sqlFragment{"SELECT " + t.names() + " FROM " + t.name + " WHERE " + text, args}
}

// rows passes the rows of a statement to take, one by one in the same memory; more are the destinations of columns
// after those of the table.
func (t table[R]) rows(w sqlFragment, take func(*R) (enough bool), more ...any) question {
	row := new(R)
	return w.reads(func() bool { return take(row) }, append(t.into(row), more...)...)
}

// list collects the rows of a statement.
func (t table[R]) list(w sqlFragment, list *[]R) question {
	return t.rows(w, func(row *R) bool {
		*list = append(*list, *row)
		return false
	})
}

// only reads the first row of a statement, if there is one.
func (t table[R]) only(w sqlFragment, found **R) question {
	return t.rows(w, func(row *R) bool {
		*found = row
		return true
	})
}

// paged collects the rows of a page, up to the row that exceeds maxRead. more are the destinations of columns after
// those of the table.
func (t table[R]) paged(w sqlFragment, list *[]R, more ...any) question {
	size := 0
	return t.rows(w, func(row *R) bool {
		enough := size > maxRead
		*list, size = append(*list, *row), size+loyalty.Weight(row)
		return enough
	}, more...)
}

// modelled makes a question from GORM's query for a model, or for a struct that has a field for each column of the
// answer.
func modelled[Row any](db *gorm.DB, list *[]Row) question {
	st := db.Session(&gorm.Session{DryRun: true}).Find(list).Statement
	row := new(Row)

	return question{
		sqlFragment: sqlFragment{st.SQL.String(), st.Vars},
		into: func(columns []string) (into []any, err error) {
			for _, c := range columns {
				f := st.Schema.LookUpField(c)
				if f == nil {
					return nil, gorm.ErrInvalidField
				}
				into = append(into, f.ReflectValueOf(st.Context, reflect.ValueOf(row)).Addr().Interface())
			}
			return into, st.Error
		},
		each: func() bool {
			*list = append(*list, *row)
			return false
		},
	}
}

// forPostgres is the statement for PostgreSQL: a list of values is an array, so that the text does not depend on
// their number.
func (w sqlFragment) forPostgres() (string, []any) {
	return w.brackets("= ANY(ARRAY(", "))").numbered(func(text string, n int, arg any) (string, []any) {
		number := "$" + strconv.Itoa(n)
		switch own, rows := arg.(ownEvents); {
		case rows:
			customers, ids := own.columns()
			return text + "(SELECT * FROM unnest(" + number + "::uuid[], $" + strconv.Itoa(n+1) + "::uuid[]))", []any{customers, ids}
		case isList(arg):
			if head, negated := strings.CutSuffix(text, " NOT IN "); negated {
				return head + " <> ALL(" + number + ")", []any{arg}
			}
			return strings.TrimSuffix(text, " IN ") + " = ANY(" + number + ")", []any{arg}
		}
		return text + number, []any{arg}
	})
}

// forSQLite is the statement for SQLite.
func (w sqlFragment) forSQLite() (string, []any) {
	return w.brackets("IN (", ")").numbered(func(text string, _ int, arg any) (string, []any) {
		var args []any
		if own, rows := arg.(ownEvents); rows {
			for _, e := range own {
				args = append(args, e.customer, e.id)
			}
			return text + "(VALUES " + marks("(?, ?)", len(own)) + ")", args
		}

		if !isList(arg) {
			return text + "?", []any{arg}
		}

		v := reflect.ValueOf(arg)
		for i := range v.Len() {
			args = append(args, v.Index(i).Interface())
		}

		return text + "(" + marks("?", len(args)) + ")", args
	})
}

// brackets renders the conditions IN [[a query]], whose rows are few. PostgreSQL's planner cannot join them if they
// are an array: it reads them first, and then uses an index. A query in {{ }} has one value; on Citus both are read
// before.
func (w sqlFragment) brackets(open, shut string) sqlFragment {
	if strings.Contains(w.text, "[[") {
		w.text = strings.ReplaceAll(strings.ReplaceAll(w.text, "IN [[", open), "]]", shut)
	}
	if strings.Contains(w.text, "{{") {
		w.text = strings.ReplaceAll(strings.ReplaceAll(w.text, "{{", "("), "}}", ")")
	}
	return w
}

// marks returns n placeholders for values.
func marks(one string, n int) string { return strings.TrimSuffix(strings.Repeat(one+", ", n), ", ") }

// numbered renders the fragment, calling write at each question mark of the text: write gets the text before it, the
// number n of the first value, and the argument, and returns the text and the values to send. GORM's own text is used
// unchanged.
func (w sqlFragment) numbered(write func(text string, n int, arg any) (string, []any)) (string, []any) {
	if len(w.args) == 0 || strings.Contains(w.text, "$1") {
		return w.text, w.args
	}

	var b strings.Builder
	b.Grow(len(w.text) + 8*len(w.args))
	args, rest := make([]any, 0, len(w.args)), w.text
	for _, arg := range w.args {
		before, behind, _ := strings.Cut(rest, "?")
		text, sent := write(before, len(args)+1, arg)
		b.WriteString(text)
		args, rest = append(args, sent...), behind
	}

	b.WriteString(rest)
	return b.String(), args
}

// isList reports whether a value is a list of values; bytes are one value.
func isList(arg any) bool {
	switch arg.(type) {
	case []UUID, []string, []any:
		return true
	case UUID, Millis, string, int, int64:
		return false
	}
	t := reflect.TypeOf(arg)
	return t != nil && t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8
}
