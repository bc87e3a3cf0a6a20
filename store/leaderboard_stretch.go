package store

import (
	"math/bits"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// rankingCountRow is the number of customers who are shown with scores of one stretch.
type rankingCountRow struct {
	Kind      boardKind `gorm:"primaryKey;autoIncrement:false"`
	Start     int       `gorm:"primaryKey;autoIncrement:false"`
	Stretch   int       `gorm:"primaryKey;autoIncrement:false"`
	Customers int64
}

func (rankingCountRow) TableName() string { return "ranking_counts" }

// moves are the changes of these numbers, by stretch.
type moves map[rankingCountRow]int64

func (m moves) add(r *rankingRow, n int64) {
	if r.Shown {
		m[rankingCountRow{Kind: r.Kind, Start: r.Start, Stretch: stretchOf(r.Score)}] += n
	}
}

func (m moves) write(db *gorm.DB) error {
	var rows []rankingCountRow
	for r, n := range m {
		if r.Customers = n; n != 0 {
			rows = append(rows, r)
		}
	}
	if db.Name() == "postgres" {
		return moveCounts.in(db, rows)
	}
	return create(db.Clauses(clause.OnConflict{
		Columns:   []clause.Column{{Name: "kind"}, {Name: "start"}, {Name: "stretch"}},
		DoUpdates: clause.Set{{Column: clause.Column{Name: "customers"}, Value: gorm.Expr("ranking_counts.customers + excluded.customers")}},
	}), rows)
}

// moveCounts adds to the stored numbers, as arrays.
var moveCounts = inserts(`INSERT INTO ranking_counts (kind, start, stretch, customers) SELECT * FROM v WHERE true
ON CONFLICT (kind, start, stretch) DO UPDATE SET customers = ranking_counts.customers + excluded.customers`,
	field[rankingCountRow]{"kind", "smallint", func(r *rankingCountRow) any { return wholeIn(&r.Kind) }},
	field[rankingCountRow]{"start", "integer", func(r *rankingCountRow) any { return wholeIn(&r.Start) }},
	field[rankingCountRow]{"stretch", "integer", func(r *rankingCountRow) any { return wholeIn(&r.Stretch) }},
	field[rankingCountRow]{"customers", "bigint", func(r *rankingCountRow) any { return (*number)(&r.Customers) }})

// fine is how many stretches lie between a score and its double. Stretches grow with the scores: each is narrower
// than a hundredth of its scores, and small scores have one stretch each.
const fine = 128

// stretchOf is the stretch of a score. It grows with the score.
func stretchOf(score int64) int {
	if score < 0 {
		return -stretchOf(max(-score, 0)) // the least integer has no positive counterpart
	}
	e := max(0, bits.Len64(uint64(score))-bits.Len64(fine))
	return e*fine + int(score>>e)
}

// stretchEnd is the greatest score of a stretch.
func stretchEnd(stretch int) int64 {
	n, width := max(stretch, -stretch), int64(1)
	e := max(0, n/fine-1)
	n, width = n-e*fine, width<<e
	if stretch < 0 {
		return -int64(n) * width
	}
	return (int64(n)+1)*width - 1
}
