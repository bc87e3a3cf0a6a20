package store

import (
	"context"
	"errors"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// boardRow is an entry of a board with what may be shown of the customer.
type boardRow struct {
	CustomerID              UUID
	Score                   int64
	Name, Handler, ImageURL string
}

// onBoard selects the entries of a board.
func onBoard(db *gorm.DB, b loyalty.Board) *gorm.DB {
	return db.Table("rankings").Where("kind = ? AND start = ? AND shown = ?", b.Period, b.Start, true)
}

// stretch reads entries from a place downwards, or upwards, the highest score
// first. The page is cut out of the index before any customer is looked up.
func stretch(db *gorm.DB, b loyalty.Board, from *loyalty.BoardPlace, page stretchSize) ([]boardRow, error) {
	inner := onBoard(db, b).Select("customer_id, score").Limit(page.limit).Offset(page.offset)
	order, beyond := "score DESC, customer_id DESC", "<"
	if page.up {
		order, beyond = "score, customer_id", ">"
	}
	if from != nil {
		inner = inner.Where("(score, customer_id) "+beyond+" (?, ?)", from.Score, UUID(from.Customer))
	}
	var rows []boardRow
	err := db.Table("(?) r", inner.Order(order)).Select("r.customer_id, r.score, c.name, c.handler, c.image_url").
		Joins("JOIN customers c ON c.id = r.customer_id").Order("r.score DESC, r.customer_id DESC").Scan(&rows).Error
	return rows, err
}

// stretchSize is which entries are read from a place on.
type stretchSize struct {
	limit, offset int
	up            bool
}

// BoardPage reads a part of a board, from the highest score down.
func (s boardStore) BoardPage(ctx context.Context, q loyalty.BoardQuery) (list []loyalty.BoardEntry, err error) {
	err = s.consistent(ctx, func(db *gorm.DB) error {
		from, size := q.After, stretchSize{limit: q.Limit}
		switch {
		case q.After != nil:
		case q.Before != nil:
			from, size.up = q.Before, true
		default:
			size.offset = q.Offset
		}
		rows, err := stretch(db, q.Board, from, size)
		if err == nil {
			list, err = rankRows(db, q.Board, rows)
		}
		return err
	})
	return list, err
}

// BoardAround reads a customer's entry with some of those above and below it.
func (s boardStore) BoardAround(ctx context.Context, b loyalty.Board, customer loyalty.ID, neighbours int) (list []loyalty.BoardEntry, score int64, err error) {
	err = s.consistent(ctx, func(db *gorm.DB) error {
		var own []rankingRow
		if err := db.Where("customer_id = ? AND kind = ? AND start = ?", UUID(customer), b.Period, b.Start).Find(&own).Error; err != nil || len(own) == 0 {
			return err
		}
		if score = own[0].Score; !own[0].Shown {
			return nil
		}
		place := loyalty.BoardPlace{Score: score, Customer: customer}
		above, err := stretch(db, b, &place, stretchSize{limit: neighbours, up: true})
		if err != nil {
			return err
		}
		// from themselves on: ids are never the last of all
		below, err := stretch(db, b, &loyalty.BoardPlace{Score: score, Customer: after(customer)}, stretchSize{limit: 1 + neighbours})
		if err != nil {
			return err
		}
		list, err = rankRows(db, b, append(above, below...))
		return err
	})
	return list, score, err
}

// after is the id that follows another one.
func after(id loyalty.ID) loyalty.ID {
	for i := len(id) - 1; i >= 0; i-- {
		if id[i]++; id[i] != 0 {
			break
		}
	}
	return id
}

// rankRows gives entries that follow one another their ranks. Of the first score and
// of the second it is asked how many are higher; the others follow from the page,
// which has all the entries between.
func rankRows(db *gorm.DB, b loyalty.Board, rows []boardRow) ([]loyalty.BoardEntry, error) {
	list := make([]loyalty.BoardEntry, 0, len(rows))
	var rank int64
	for i, scores := 0, 0; i < len(rows); {
		equals := 1
		for i+equals < len(rows) && rows[i+equals].Score == rows[i].Score {
			equals++
		}
		if scores++; scores <= 2 {
			n, err := higher(db, b, rows[i].Score)
			if err != nil {
				return nil, err
			}
			rank = 1 + n
		}
		for _, r := range rows[i : i+equals] {
			list = append(list, loyalty.BoardEntry{
				BoardPlace: loyalty.BoardPlace{Score: r.Score, Customer: loyalty.ID(r.CustomerID)},
				Rank:       rank, Name: r.Name, Handler: r.Handler, ImageURL: r.ImageURL,
			})
		}
		rank, i = rank+int64(equals), i+equals
	}
	return list, nil
}

// higher counts the customers with a higher score: those of its own stretch in the
// index, the others by their stretches.
func higher(db *gorm.DB, b loyalty.Board, score int64) (n int64, err error) {
	own := stretchOf(score)
	var above int64
	err = errors.Join(
		onBoard(db, b).Where("score > ? AND score <= ?", score, stretchEnd(own)).Count(&n).Error,
		db.Table("ranking_counts").Where("kind = ? AND start = ? AND stretch > ?", b.Period, b.Start, own).
			Select("CAST(coalesce(sum(customers), 0) AS bigint)").Scan(&above).Error,
	)
	return n + above, err
}
