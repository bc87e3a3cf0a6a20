package store

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// asked runs nested queries first, innermost before outer. With their results as values Citus knows which machine has
// the rows of the outer query, and asks no other. All queries see the same instant.
func (e *citusEngine) asked(ctx context.Context, first []question, then func() ([]question, error)) error {
	c, err := e.reads.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release() // this closes a connection that is inside a transaction

	begin, end := snapshotBegin, "COMMIT"
	first = onCitus(first)
	if then == nil && len(first) == 1 && innermost(first[0].sqlFragment) == nil {
		return exchangeQuestions(ctx, c, first, "", "")
	}
	if first, begin, err = innerFirst(ctx, c, first, begin); err != nil {
		return err
	}
	if then == nil {
		return exchangeQuestions(ctx, c, first, begin, end)
	}
	if err := exchangeQuestions(ctx, c, first, begin, ""); err != nil {
		return err
	}

	list, err := then()
	if err == nil {
		list, _, err = innerFirst(ctx, c, onCitus(list), "")
	}

	if err != nil {
		e.rollback(c)
		return err
	}

	return exchangeQuestions(ctx, c, list, "", end)
}

// fromMerges reads merged customers from the finder table, which each machine has.
var fromMerges = strings.NewReplacer(mergedInto, "SELECT source FROM merges WHERE target = ", orMerged, " UNION ALL SELECT source FROM merges WHERE target = ",
	orMergedAny, " UNION ALL SELECT source FROM merges WHERE target IN ")

// onCitus gives the queries the texts that they have on Citus.
func onCitus(list []question) []question {
	list = slices.Clone(list)
	for i := range list {
		if text := list[i].citus; text != nil {
			list[i].sqlFragment = *text
		}
		list[i].text = fromMerges.Replace(list[i].text)
	}
	return list
}

// innerQuestion is a query inside another one.
type innerQuestion struct {
	sqlFragment
	from, to, skip int // its place in the outer text, and the number of values before its own
	many           bool
	ids            []UUID
}

// innermost finds the first innermost query; nil if there is none.
func innermost(w sqlFragment) *innerQuestion {
	to, shut := len(w.text), ""
	for _, mark := range []string{"}}", "]]"} {
		if at := strings.Index(w.text, mark); at >= 0 && at < to {
			to, shut = at, mark
		}
	}

	if shut == "" {
		return nil
	}

	q := &innerQuestion{to: to + len(shut), many: shut == "]]"}
	open := "{{"
	if q.many {
		open = "IN [["
	}
	if q.from = strings.LastIndex(w.text[:to], open); q.from < 0 {
		return nil // the brackets belong to something else
	}

	q.text = w.text[q.from+len(open) : to]
	q.skip = strings.Count(w.text[:q.from], "?")
	q.args = w.args[q.skip : q.skip+strings.Count(q.text, "?")]
	return q
}

// innerFirst runs the nested queries and replaces them by their results. The transaction begins with the first of
// them; the returned text says how one still has to begin.
func innerFirst(ctx context.Context, c *pgxpool.Conn, list []question, begin string) ([]question, string, error) {
	for {
		inner := map[int]*innerQuestion{}
		b := &pgx.Batch{}
		if begin != "" {
			b.Queue(begin)
		}

		for i := range list {
			q := innermost(list[i].sqlFragment)
			if q == nil {
				continue
			}
			inner[i] = q
			text, args := q.forPostgres()
			b.Queue(text, args...).Query(func(rows pgx.Rows) error {
				var id UUID
				_, err := pgx.ForEachRow(rows, []any{&id}, func() error { q.ids = append(q.ids, id); return nil })
				return err
			})
		}

		if len(inner) == 0 {
			return list, begin, nil
		}
		if err := c.SendBatch(ctx, b).Close(); err != nil {
			return nil, begin, err
		}

		begin = ""
		for i, q := range inner {
			list[i].sqlFragment = q.answered(list[i].sqlFragment)
		}
	}
}

// answered is the outer query with the result in place of the inner one.
func (q *innerQuestion) answered(w sqlFragment) sqlFragment {
	place, value := "IN ?", []any{q.ids}
	switch {
	case q.many && len(q.ids) == 0:
		place, value = "= NULL::uuid", nil // matches no row
	case !q.many && (len(q.ids) == 0 || q.ids[0] == UUID{}):
		place, value = "NULL::uuid", nil
	case !q.many:
		place, value = "?::uuid", []any{q.ids[0]}
	}
	before, behind := w.args[:q.skip], w.args[q.skip+len(q.args):]
	return sqlFragment{w.text[:q.from] + place + w.text[q.to:], slices.Concat(before, value, behind)}
}
