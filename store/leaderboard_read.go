package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// onBoard is the condition that an entry is on a board and shown.
func onBoard(b loyalty.Board) sqlFragment {
	return sqlFragment{}.and("kind = ? AND start = ? AND shown = ?", kindOf(b), b.Start, true)
}

// boardPlace is an expression for a place on a board: a score and a customer's id.
type boardPlace struct{ score, id sqlFragment }

func placeOnBoard(p *loyalty.BoardPlace) *boardPlace {
	if p == nil {
		return nil
	}
	return &boardPlace{sqlFragment{"?", []any{p.Score}}, sqlFragment{"?", []any{UUID(p.Customer)}}}
}

// stretch reads entries from a place downwards, or upwards, in that order. It cuts the page from the index before it
// looks up any customer.
func stretch(b loyalty.Board, from *boardPlace, page stretchSize, list *[]loyalty.BoardEntry) question {
	inner, order, beyond := onBoard(b), "score DESC, customer_id DESC", "<"
	if page.up {
		order, beyond = "score, customer_id", ">"
	}
	if from != nil {
		inner = inner.and("(score, customer_id) "+beyond+" ("+from.score.text+", "+from.id.text+")", slices.Concat(from.score.args, from.id.args)...)
	}

	text := fmt.Sprintf(`SELECT r.customer_id, r.score, c.name, c.handler, c.image_url FROM (SELECT customer_id, score FROM rankings%s ORDER BY %s LIMIT %d OFFSET %d) r
JOIN customers c ON c.id = r.customer_id ORDER BY r.score DESC, r.customer_id DESC`, inner.where(), order, page.limit, page.offset)
	var e loyalty.BoardEntry
	return sqlFragment{text, inner.args}.reads(func() bool {
		*list = append(*list, e)
		return false
	}, (*UUID)(&e.Customer), (*number)(&e.Score), (*plain)(&e.Name), (*plain)(&e.Handler), (*plain)(&e.ImageURL))
}

// stretchSize says which entries are read from a place on.
type stretchSize struct {
	limit, offset int
	up            bool
}

// BoardPage reads a part of a board, from the highest score down.
func (s boardStore) BoardPage(ctx context.Context, q loyalty.BoardQuery) (list []loyalty.BoardEntry, err error) {
	from, size := q.After, stretchSize{limit: q.Limit}
	switch {
	case q.After != nil:
	case q.Before != nil:
		from, size.up = q.Before, true
	default:
		size.offset = q.Offset
	}

	var ranks ranksRead
	first := []question{stretch(q.Board, placeOnBoard(from), size, &list)}
	if from == nil && q.Offset == 0 {
		err = s.asks(ctx, first...)
	} else {
		err = s.ask(ctx, first, func() ([]question, error) { return ranks.of(q.Board, list), nil })
	}

	ranks.tell(list)
	return list, err
}

// BoardAround reads a customer's entry with some of those above and below it.
func (s boardStore) BoardAround(ctx context.Context, b loyalty.Board, customer loyalty.ID, neighbours int) (list []loyalty.BoardEntry, score int64, err error) {
	own := sqlFragment{" FROM rankings WHERE customer_id = ? AND kind = ? AND start = ?", []any{UUID(customer), kindOf(b), b.Start}}
	var shown flag
	var above, below []loyalty.BoardEntry
	var ranks ranksRead
	// the entries below begin with the customer's own, because an id always has a successor
	stands := sqlFragment{"(SELECT score" + own.text + " AND shown = ?)", append(slices.Clip(own.args), true)}
	place := func(id loyalty.ID) *boardPlace { return &boardPlace{stands, sqlFragment{"?", []any{UUID(id)}}} }
	err = s.ask(ctx, []question{
		sqlFragment{"SELECT score, shown" + own.text, own.args}.one((*number)(&score), &shown),
		stretch(b, place(customer), stretchSize{limit: neighbours, up: true}, &above),
		stretch(b, place(after(customer)), stretchSize{limit: 1 + neighbours}, &below),
	}, func() ([]question, error) {
		list = slices.Concat(above, below)
		return ranks.of(b, list), nil
	})

	ranks.tell(list)
	return list, score, err
}

// after is the next id.
func after(id loyalty.ID) loyalty.ID {
	for i := len(id) - 1; i >= 0; i-- {
		if id[i]++; id[i] != 0 {
			break
		}
	}
	return id
}

// ranksRead computes the ranks of consecutive entries. For the first two distinct scores the database counts how many
// are higher; the other ranks follow from the page, which has all entries between. On a page that begins with the
// very first entry, all ranks follow from the page.
type ranksRead struct {
	higher [2]number
	asked  int
}

// of makes the questions.
func (r *ranksRead) of(b loyalty.Board, rows []loyalty.BoardEntry) (list []question) {
	for i := range rows {
		if i > 0 && rows[i].Score == rows[i-1].Score {
			continue
		}
		list = append(list, higher(b, rows[i].Score).one(&r.higher[r.asked]))
		if r.asked++; r.asked == len(r.higher) {
			break
		}
	}
	return list
}

// tell sets the entries' ranks.
func (r *ranksRead) tell(rows []loyalty.BoardEntry) {
	scores := 0

	for i := range rows {
		switch {
		case i > 0 && rows[i].Score == rows[i-1].Score:
			rows[i].Rank = rows[i-1].Rank
			continue
		case scores < r.asked:
			rows[i].Rank = 1 + int64(r.higher[scores])
		case i == 0:
			rows[i].Rank = 1
		default: // each entry with an equal score before this one takes a rank
			rows[i].Rank = rows[i-1].Rank + equals(rows[:i])
		}
		scores++
	}
}

// equals counts the last entries that have the same score.
func equals(rows []loyalty.BoardEntry) (n int64) {
	for i := len(rows) - 1; i >= 0 && rows[i].Score == rows[len(rows)-1].Score; i-- {
		n++
	}
	return n
}

// higher counts the customers with a higher score: those in the score's own stretch in the index, the others by the
// counts of their stretches.
func higher(b loyalty.Board, score int64) sqlFragment {
	own := stretchOf(score)
	near := onBoard(b).and("score > ? AND score <= ?", score, stretchEnd(own))
	return sqlFragment{
		"SELECT (SELECT COUNT(*) FROM rankings" + near.where() + ") + (SELECT CAST(coalesce(sum(customers), 0) AS bigint) FROM ranking_counts WHERE kind = ? AND start = ? AND stretch > ?)",
		append(near.args, kindOf(b), b.Start, own),
	}
}
