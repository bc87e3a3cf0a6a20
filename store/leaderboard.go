package store

import (
	"context"
	"errors"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// boardStore keeps the leaderboards.
type boardStore struct{ *database }

// leaderboardRow is the one row of the state.
type leaderboardRow struct {
	ID         int16 `gorm:"primaryKey;autoIncrement:false"`
	Zone       string
	Version    int64
	Generation int64
	Built      int64
	BegunAt    Millis
	ComparedAt Millis
}

func (leaderboardRow) TableName() string { return "leaderboard" }

// rankingRow is what a customer scored in one period.
type rankingRow struct {
	CustomerID UUID                `gorm:"primaryKey"`
	Kind       loyalty.BoardPeriod `gorm:"primaryKey;autoIncrement:false"`
	Start      int                 `gorm:"primaryKey;autoIncrement:false"`
	Score      int64
	Shown      bool
}

func (rankingRow) TableName() string { return "rankings" }

// countedRow is up to which event a customer is in rankings.
type countedRow struct {
	CustomerID UUID `gorm:"primaryKey"`
	Generation int64
	Through    UUID
}

func (countedRow) TableName() string { return "counted" }

// beforeAll sorts before every id that was ever made.
var beforeAll = UUID{15: 1}

// BoardState reads the state of the leaderboard; zero: there is none.
func (s boardStore) BoardState(ctx context.Context) (loyalty.BoardState, error) {
	var r leaderboardRow
	err := s.read.WithContext(ctx).Limit(1).Find(&r).Error
	return loyalty.BoardState{
		Zone: r.Zone, Version: r.Version, Generation: r.Generation, Built: r.Built, Begun: r.BegunAt.Time(), Compared: r.ComparedAt.Time(),
	}, s.classify(err)
}

// SwapBoardState puts after in the place of before; false: it was another one.
func (s boardStore) SwapBoardState(ctx context.Context, before, after loyalty.BoardState) (bool, error) {
	row := leaderboardRow{1, after.Zone, after.Version, after.Generation, after.Built, Millis(after.Begun), Millis(after.Compared)}
	db := s.write.WithContext(ctx)
	if before == (loyalty.BoardState{}) {
		db = db.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
	} else {
		db = db.Model(&leaderboardRow{}).Select("*").Omit("id").Where("id = 1 AND generation = ? AND built = ?", before.Generation, before.Built).Updates(&row)
	}
	return db.RowsAffected == 1, s.classify(db.Error)
}

// uncounted says that a generation does not count an event of a customer. It asks
// for each row, by the key: as a join it could become a scan of all customers.
func uncounted(customer, event string) string {
	return "NOT coalesce((SELECT w.through >= " + event + " FROM counted w WHERE w.customer_id = " + customer + " AND w.generation = ?), false)"
}

// Uncounted lists events that a generation does not count yet, by the time of
// recording, then id.
func (s boardStore) Uncounted(ctx context.Context, generation int64, after loyalty.Cursor, limit int) ([]loyalty.Uncounted, error) {
	from := UUID(after.ID)
	if from == (UUID{}) {
		from = beforeAll
	}
	var rows []struct {
		CustomerID, ID UUID
		RecordedAt     Millis
	}
	// the first condition is for the months of the journal
	err := s.read.WithContext(ctx).Raw(`SELECT e.customer_id, e.id, e.recorded_at FROM events e
WHERE e.recorded_at >= ? AND (e.recorded_at, e.id) > (?, ?) AND `+uncounted("e.customer_id", "e.id")+`
ORDER BY e.recorded_at, e.id LIMIT ?`, Millis(after.At), Millis(after.At), from, generation, limit).Scan(&rows).Error
	list := make([]loyalty.Uncounted, len(rows))
	for i, r := range rows {
		list[i] = loyalty.Uncounted{Customer: loyalty.ID(r.CustomerID), Event: loyalty.ID(r.ID), RecordedAt: r.RecordedAt.Time()}
	}
	return list, s.classify(err)
}

// Behind lists customers with events that a generation does not count yet, by id.
func (s boardStore) Behind(ctx context.Context, generation int64, after loyalty.ID, limit int) ([]loyalty.ID, error) {
	from := UUID(after)
	if from == (UUID{}) {
		from = beforeAll
	}
	db := s.read.WithContext(ctx).Table("balances b").
		Where("b.customer_id > ? AND b.last_event IS NOT NULL", from).Where(uncounted("b.customer_id", "b.last_event"), generation)
	return s.ids(db.Order("b.customer_id").Limit(limit), "b.customer_id")
}

// ForgetBoards deletes rows of boards that are earlier than the given one of their
// period, limit at most.
func (s boardStore) ForgetBoards(ctx context.Context, oldest loyalty.Board, limit int) (n int, err error) {
	return n, s.classify(s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		if err := s.alone(db); err != nil {
			return err
		}
		var gone []rankingRow
		if err := db.Where("kind = ? AND start < ?", oldest.Period, oldest.Start).Limit(limit).Find(&gone).Error; err != nil {
			return err
		}
		moved := moves{}
		for i := range gone {
			moved.add(&gone[i], -1)
		}
		n = len(gone)
		empty := db.Where("kind = ? AND start < ? AND customers = 0", oldest.Period, oldest.Start)
		return errors.Join(remove(db, gone), moved.write(db), empty.Delete(&rankingCountRow{}).Error)
	}, oneInstant))
}

// Count brings the boards up to date for some customers and those who are one with
// them, on one instant of the database: what is committed while it runs is left
// for the next time.
func (s boardStore) Count(ctx context.Context, generation int64, calendar *loyalty.BoardCalendar, customers []loyalty.ID) error {
	return s.classify(s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		if err := s.alone(db); err != nil {
			return err
		}
		t := &tallying{db: db, generation: generation, calendar: calendar, families: map[UUID]*ranked{}, members: map[UUID]*ranked{}}
		for _, step := range []func() error{func() error { return t.find(customers) }, t.standing, t.journal, t.write} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	}, oneInstant))
}
