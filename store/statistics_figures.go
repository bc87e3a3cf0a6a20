package store

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// figureRow is one figure. Its value is text, because a day's sum can exceed 64 bits.
type figureRow struct {
	Metric string `gorm:"primaryKey"`
	Key    string `gorm:"primaryKey"`
	Day    int    `gorm:"primaryKey;autoIncrement:false"`
	Value  string
}

func (figureRow) TableName() string { return "figures" }

func (r *figureRow) number() (*big.Int, error) {
	n, ok := new(big.Int).SetString(r.Value, 10)
	if !ok {
		return nil, fmt.Errorf("the figure %s of day %d is no number", r.Metric, r.Day)
	}
	return n, nil
}

// figuresAtOnce bounds the parameters of a statement.
const figuresAtOnce = 500

// sumFigures adds to the stored figures. No other writer changes them meanwhile.
func sumFigures(db *gorm.DB, figures []loyalty.Figure) error {
	for some := range slices.Chunk(figures, figuresAtOnce) {
		keys := make([][]any, len(some))
		sums := make(map[figureRow]*big.Int, len(some))
		for i := range some {
			f := &some[i]
			r := figureRow{Metric: f.Metric, Key: f.Key.String(), Day: f.Day}
			keys[i], sums[r] = []any{r.Metric, r.Key, r.Day}, new(big.Int).Set(&f.Value)
		}

		var rows []figureRow
		if err := db.Where("(metric, key, day) IN ?", keys).Find(&rows).Error; err != nil {
			return err
		}

		for _, r := range rows {
			n, err := r.number()
			if err != nil {
				return err
			}
			r.Value = ""
			sums[r].Add(sums[r], n)
		}

		rows = rows[:0]
		for r, sum := range sums {
			r.Value = sum.String()
			rows = append(rows, r)
		}

		if err := db.Clauses(clause.OnConflict{UpdateAll: true}).Create(rows).Error; err != nil {
			return err
		}
	}

	return nil
}

// LastFigure is a metric without breakdown, on the last day that has it; false if no day has.
func (s statisticsStore) LastFigure(ctx context.Context, metric string) (*big.Int, bool, error) {
	var rows []figureRow
	err := s.read.WithContext(ctx).Where("metric = ? AND key = ?", metric, loyalty.FigureKey{}.String()).Order("day DESC").Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, false, s.classify(err)
	}
	n, err := rows[0].number()
	return n, err == nil, err
}

// Figures passes figures one by one, those of one metric and breakdown together. They are not collected, because
// callers name stores and channels, and there may be millions of rows.
func (s statisticsStore) Figures(ctx context.Context, q loyalty.FigureQuery, each func(*loyalty.Figure)) error {
	from := loyalty.FigureKey{By: q.By}.String()
	from = from[:len(q.By)+1] // up to the separator
	to := from[:len(q.By)] + string(from[len(q.By)]+1)
	db := s.read.WithContext(ctx).Model(&figureRow{})
	if q.Keys != nil {
		keys := make([]string, len(q.Keys))
		for i, key := range q.Keys {
			keys[i] = key.String()
		}
		db = db.Where("key IN ?", keys)
	}

	rows, err := db.Where("metric IN ? AND key >= ? AND key < ? AND day BETWEEN ? AND ?", q.Metrics, from, to, q.First, q.Last).Order("metric, key, day").Rows()
	if err != nil {
		return s.classify(err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error

	var r, last figureRow
	var f loyalty.Figure
	for rows.Next() {
		if err := rows.Scan(&r.Metric, &r.Key, &r.Day, &r.Value); err != nil {
			return s.classify(err)
		}
		if r.Key != last.Key || r.Metric != last.Metric { // days of one key share its texts
			last = r
			f.Metric, f.Key = r.Metric, loyalty.ParseFigureKey(r.Key)
		}
		if _, ok := f.Value.SetString(r.Value, 10); !ok {
			_, err := r.number()
			return err
		}
		f.Day = r.Day
		each(&f)
	}

	return s.classify(rows.Err())
}

// AddRefusals counts refused events, by days in the time zone of the figures.
func (s statisticsStore) AddRefusals(ctx context.Context, all map[loyalty.RefusedAs]int64) error {
	var state statisticsRow
	db := s.write.WithContext(ctx)
	if err := db.Limit(1).Find(&state).Error; err != nil {
		return s.fault(err)
	}

	zone, err := time.LoadLocation(state.Zone) // before the first fold: UTC
	if err != nil {
		return err
	}

	sums := map[figureRow]int64{}
	for r, n := range all {
		year, month, dom := r.At.In(zone).Date()
		day := int(time.Date(year, month, dom, 0, 0, 0, 0, time.UTC).Unix() / secondsADay)
		for _, key := range []loyalty.FigureKey{{}, loyalty.NewFigureKey(loyalty.ByCode, "", strconv.FormatInt(r.Code, 10))} {
			sums[figureRow{Metric: loyalty.MetricRefused, Key: key.String(), Day: day}] += n
		}
	}

	rows := make([]figureRow, 0, len(sums))
	for r, n := range sums {
		r.Value = strconv.FormatInt(n, 10)
		rows = append(rows, r)
	}

	// Nodes lock in one order.
	slices.SortFunc(rows, func(a, b figureRow) int { return cmp.Or(strings.Compare(a.Key, b.Key), a.Day-b.Day) })
	return s.fault(create(db.Clauses(clause.OnConflict{
		Columns:   []clause.Column{{Name: "metric"}, {Name: "key"}, {Name: "day"}},
		DoUpdates: clause.Set{{Column: clause.Column{Name: "value"}, Value: gorm.Expr("CAST(CAST(figures.value AS bigint) + CAST(excluded.value AS bigint) AS text)")}},
	}), rows))
}

const secondsADay = 24 * 60 * 60
