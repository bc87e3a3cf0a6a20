package store

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/pressly/goose/v3"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// statisticsStore keeps the figures of statistics.
type statisticsStore struct{ *database }

// statisticsFollower is the name of the statistics as a follower of the tail.
const statisticsFollower = "statistics"

// statisticsRow is the one row of the state.
type statisticsRow struct {
	ID             int16 `gorm:"primaryKey;autoIncrement:false"`
	Zone           string
	Version        int64
	Generation     int64
	PhotographedAt Millis
}

func (statisticsRow) TableName() string { return "statistics" }

// StatisticsState reads the state. Without one it is zero, except for how far it is behind.
func (s statisticsStore) StatisticsState(ctx context.Context) (state loyalty.StatisticsState, err error) {
	var r struct {
		Zone                                string
		Version, Generation, Position, Head int64
		Present                             bool
		PhotographedAt                      Millis
	}
	err = s.read.WithContext(ctx).Raw(`SELECT coalesce(f.position, 0) AS position, t.head, t.present, coalesce(s.zone, '') AS zone,
coalesce(s.version, 0) AS version, coalesce(s.generation, 0) AS generation, s.photographed_at
FROM tail_state t LEFT JOIN statistics s ON s.id = t.id LEFT JOIN followers f ON f.name = ?`, statisticsFollower).Scan(&r).Error
	return loyalty.StatisticsState{
		Zone: r.Zone, Version: r.Version, Generation: r.Generation, Behind: r.Head - max(r.Position, 0), Whole: r.Present && r.Position >= 0,
		Photographed: r.PhotographedAt.Time(),
	}, s.classify(err)
}

// SwapStatistics replaces zone, version and generation of before by those of after. A new generation deletes the
// folded figures.
func (s statisticsStore) SwapStatistics(ctx context.Context, before, after loyalty.StatisticsState) (swapped bool, err error) {
	row := statisticsRow{ID: 1, Zone: after.Zone, Version: after.Version, Generation: after.Generation}
	err = s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		if err := s.alone(db); err != nil {
			return err
		}
		if before.Generation == 0 {
			done := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
			swapped = done.RowsAffected == 1
			return done.Error
		}
		done := db.Model(&statisticsRow{}).Select("zone", "version", "generation").Where("id = 1 AND generation = ?", before.Generation).Updates(&row)
		if swapped = done.RowsAffected == 1; done.Error != nil || !swapped {
			return done.Error
		}
		return follow(db, statisticsFollower, uncleared)
	}, oneInstant)

	return swapped, s.classify(err)
}

// alone waits until no other node folds, like that of the boards.
func (s statisticsStore) alone(db *gorm.DB) error {
	if s.dialect() != goose.DialectPostgres {
		return nil
	}
	return db.Exec("LOCK TABLE statistics IN EXCLUSIVE MODE;\n" + boundCounting).Error
}

// FoldFigures folds the next events of the tail into the figures and moves the position in the tail, as of one
// instant of the database.
func (s statisticsStore) FoldFigures(ctx context.Context, generation int64, limit int, fold func(*loyalty.FigurePiece) []loyalty.Figure) (events int, last bool, err error) {
	var piece figurePiece
	var figures []loyalty.Figure
	var head int64
	err = inPieces(ctx, s.database, func(db *gorm.DB) (position int64, err error) {
		if err := s.alone(db); err != nil {
			return 0, err
		}
		var state statisticsRow
		if err := db.Limit(1).Find(&state).Error; err != nil {
			return 0, err
		}
		if state.Generation != generation {
			return 0, loyalty.ErrBatchConflict
		}
		position, head, err = followed(db, statisticsFollower)
		return position, err
	}, func(db *gorm.DB, position int64) (some bool, err error) {
		if position == uncleared {
			return true, nil
		}
		piece = figurePiece{db: db, from: position, through: min(position+int64(limit), head)}
		if last = piece.through == position; last {
			return false, nil
		}
		if err := piece.load(); err != nil {
			return false, err
		}
		figures = fold(&piece.FigurePiece)
		events, last = len(piece.Events), piece.through == head
		return true, nil
	}, func(db *gorm.DB, position int64) error {
		if position == uncleared {
			return clearFigures(db)
		}
		if err := sumFigures(db, figures); err != nil {
			return err
		}
		if err := piece.keepRefunded(db); err != nil {
			return err
		}
		return follow(db, statisticsFollower, piece.through)
	})

	return events, last, s.classify(err)
}

// clearedAtOnce is how many figures of an earlier generation one transaction deletes: on SQLite it blocks all other
// writes.
const clearedAtOnce = 5000

// clearFigures deletes folded figures; when none is left, folding starts from the beginning.
func clearFigures(db *gorm.DB) error {
	for _, text := range []string{
		`DELETE FROM figures WHERE (metric, key, day) IN (SELECT metric, key, day FROM figures WHERE metric NOT IN @kept LIMIT @limit)`,
		`DELETE FROM figure_refunds WHERE transaction_id IN (SELECT transaction_id FROM figure_refunds LIMIT @limit)`,
	} {
		done := db.Exec(text, map[string]any{"kept": loyalty.KeptMetrics, "limit": clearedAtOnce})
		if done.Error != nil || done.RowsAffected > 0 {
			return done.Error
		}
	}
	return follow(db, statisticsFollower, 0)
}

// KeepPhotograph stores figures, replacing those of the same day and metrics.
func (s statisticsStore) KeepPhotograph(ctx context.Context, at time.Time, day int, figures []loyalty.Figure) error {
	return s.classify(s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		seen := set[string]{}
		for i := range figures {
			if m := figures[i].Metric; seen.add(m) {
				if err := db.Where("metric = ? AND day = ?", m, day).Delete(&figureRow{}).Error; err != nil {
					return err
				}
			}
		}
		if err := sumFigures(db, figures); err != nil {
			return err
		}
		return db.Model(&statisticsRow{}).Where("id = 1").Update("photographed_at", Millis(at)).Error
	}))
}
