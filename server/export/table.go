package export

import (
	"context"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// table is a table that is read in the order of its keys.
type table[R any] struct {
	list []column[R]
	read func(loyalty.ExportReader, context.Context, loyalty.ExportQuery) (loyalty.ExportPart[R], error)
	// who are the customers that a row names.
	who func(*R) []loyalty.ID
}

func (t table[R]) columns() (list []Column) {
	for _, c := range t.list {
		list = append(list, c.Column)
	}
	return list
}

func (t table[R]) next(ctx context.Context, r *Reader, limit int) ([][]value, bool, error) {
	part, err := t.read(r.from, ctx, r.query(limit))
	if err != nil {
		return nil, false, err
	}

	b := &beside{}
	if r.ask.Personal {
		var ids []loyalty.ID
		for i := range part.Rows {
			ids = append(ids, t.who(&part.Rows[i])...)
		}
		if b.names, err = r.from.CustomerNames(ctx, ids); err != nil {
			return nil, false, err
		}
	}

	rows := make([][]value, len(part.Rows))
	for i := range part.Rows {
		rows[i] = cells(r, t.list, b, &part.Rows[i])
	}

	r.place = part.Through
	return rows, part.More, nil
}

// goBehind makes the reader start behind the row with this key.
func (r *Reader) goBehind(key string) bool {
	first, rest, two := strings.Cut(key, "/")
	switch r.ask.Table {
	case "events", "postings":
		return r.goBehindNumber(first, rest, two)
	case "customers", "coupons":
		id, err := uuid.Parse(first)
		r.place.ID = id
		return err == nil && !two
	}

	owner, err := uuid.Parse(first)
	if r.place.Customer = owner; err != nil || !two || rest == "" {
		return false
	}

	if r.ask.Table == "purchases" {
		r.place.Name = rest
		return true
	}

	r.place.ID, err = uuid.Parse(rest)
	return err == nil
}

// goBehindNumber is goBehind for tables that follow the feed: the number of an event, and the place of one of its
// postings.
func (r *Reader) goBehindNumber(number, place string, two bool) bool {
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || two != (r.ask.Table == "postings") {
		return false
	}
	if r.number = n; !two {
		return true
	}
	r.number--
	r.within, err = strconv.Atoi(place)
	return err == nil && r.within > 0
}
