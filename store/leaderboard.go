package store

import (
	"context"
	"errors"
	"time"

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
	Dated      int64
	Side       int16
	WholeZone  string
	Whole      int64
}

// counted is the side of the dated boards that is being counted: the complete side, or the other one during a
// recount.
func (r *leaderboardRow) counted() int16 {
	if r.Built == r.Generation {
		return r.Side
	}
	return 1 - r.Side
}

func (leaderboardRow) TableName() string { return "leaderboard" }

// rankingRow is a customer's score in one period.
type rankingRow struct {
	CustomerID UUID      `gorm:"primaryKey"`
	Kind       boardKind `gorm:"primaryKey;autoIncrement:false"`
	Start      int       `gorm:"primaryKey;autoIncrement:false"`
	Score      int64
	Shown      bool
}

// boardKind is the period and the side of a board in one number.
type boardKind int16

// kindsOfSide is greater than the number of periods.
const kindsOfSide = 8

func kindOf(b loyalty.Board) boardKind { return boardKind(b.Period) + boardKind(b.Side)*kindsOfSide }

// board returns the board of the row.
func (r *rankingRow) board() loyalty.Board {
	return loyalty.Board{Period: loyalty.BoardPeriod(r.Kind % kindsOfSide), Start: r.Start, Side: int16(r.Kind / kindsOfSide)}
}

func (rankingRow) TableName() string { return "rankings" }

// BoardState reads the state of the leaderboard; zero if there is none.
func (s boardStore) BoardState(ctx context.Context) (state loyalty.BoardState, err error) {
	err = s.asks(ctx, boardState("false").one(append(stateOf(&state), new(flag))...))
	return state, err
}

// BoardCounted reads when the last event was recorded that the boards of a period include; zero if they include none.
func (s boardStore) BoardCounted(ctx context.Context, p loyalty.BoardPeriod) (at time.Time, err error) {
	position := "coalesce(f.position, 0)"
	if p != loyalty.BoardAll {
		position = "CASE WHEN l.built = l.generation THEN coalesce(f.position, 0) ELSE l.whole END"
	}
	var state loyalty.BoardState
	q := boardState("coalesce((SELECT t.recorded_at FROM tail t WHERE t.number <= " + position + " ORDER BY t.number DESC LIMIT 1), 0)")
	var recorded int64
	if err = s.asks(ctx, q.one(append(stateOf(&state), (*number)(&recorded))...)); recorded != 0 {
		at = time.UnixMilli(recorded).UTC()
	}
	return at, err
}

// BoardGlance reads the state, and whether an event recorded between two instants has no number yet. One statement
// reads both, as of one instant.
func (s boardStore) BoardGlance(ctx context.Context, from, before time.Time) (state loyalty.BoardState, some bool, err error) {
	q := boardState("EXISTS (SELECT 1 FROM events WHERE recorded_at >= ? AND recorded_at < ? AND "+unnumbered("events.customer_id", "events.id")+")",
		Millis(from), Millis(before))
	err = s.asks(ctx, q.one(append(stateOf(&state), (*flag)(&some))...))
	return state, some, err
}

// boardState is the statement that reads the state, and one more expression.
func boardState(also string, args ...any) sqlFragment {
	return sqlFragment{`SELECT l.zone, l.version, l.generation, l.built, coalesce(f.position, 0) < s.head OR l.dated < coalesce(f.position, 0), l.side, l.whole_zone, ` + also + `
FROM leaderboard l JOIN tail_state s ON s.id = l.id LEFT JOIN followers f ON f.name = ? WHERE l.id = 1`, append(args, boardFollower)}
}

func stateOf(state *loyalty.BoardState) []any {
	return []any{(*plain)(&state.Zone), (*number)(&state.Version), (*number)(&state.Generation), (*number)(&state.Built), (*flag)(&state.Behind),
		wholeIn(&state.Side), (*plain)(&state.WholeZone)}
}

// SwapBoardState replaces before by after; false if the state has changed.
func (s boardStore) SwapBoardState(ctx context.Context, before, after loyalty.BoardState) (bool, error) {
	db := s.write.WithContext(ctx)
	if before == (loyalty.BoardState{}) {
		row := leaderboardRow{ID: 1, Zone: after.Zone, Version: after.Version, Generation: after.Generation, Built: after.Built, Side: after.Side}
		db = db.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
		return db.RowsAffected == 1, s.classify(db.Error)
	}

	again := before.Generation != after.Generation
	db = db.Exec(`UPDATE leaderboard SET zone = ?, version = ?, generation = ?, built = ?, side = ?, whole_zone = ?,
whole = CASE WHEN ? AND built = generation THEN dated ELSE whole END, dated = CASE WHEN ? THEN ? ELSE dated END
WHERE id = 1 AND generation = ? AND built = ?`,
		after.Zone, after.Version, after.Generation, after.Built, after.Side, after.WholeZone,
		again, again, uncleared, before.Generation, before.Built)

	return db.RowsAffected == 1, s.classify(db.Error)
}

// ForgetBoards deletes rows of boards that are earlier than the given one of their period, limit at most. After a
// recount it also deletes the replaced boards.
func (s boardStore) ForgetBoards(ctx context.Context, oldest loyalty.Board, limit int) (n int, err error) {
	err = s.classify(s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		if err := s.alone(db); err != nil {
			return err
		}

		var state leaderboardRow
		if err := db.Limit(1).Find(&state).Error; err != nil {
			return err
		}

		oldest.Side = state.counted()
		n, err = drop(db, limit, "kind = ? AND start < ?", kindOf(oldest), oldest.Start)
		if err != nil || n == limit || state.Built != state.Generation {
			return err
		}

		oldest.Side = 1 - oldest.Side
		replaced, err := drop(db, limit-n, "kind = ?", kindOf(oldest))
		n += replaced
		return err
	}, oneInstant))

	return n, err
}

// drop deletes rows of boards, limit at most, and updates their counts.
func drop(db *gorm.DB, limit int, where string, args ...any) (int, error) {
	var gone []rankingRow
	if err := db.Where(where, args...).Limit(limit).Find(&gone).Error; err != nil {
		return 0, err
	}
	moved := moves{}
	for i := range gone {
		moved.add(&gone[i], -1)
	}
	empty := db.Where(where+" AND customers = 0", args...)
	return len(gone), errors.Join(remove(db, gone), moved.write(db), empty.Delete(&rankingCountRow{}).Error)
}

// Count adds the next events of the tail to the boards and moves its position in the tail, as of one instant of the
// database. During a recount of the dated boards, the board of all time continues first and the dated boards catch up
// with it; the previous complete dated boards keep their scores.
func (s boardStore) Count(ctx context.Context, generation int64, calendar *loyalty.BoardCalendar, limit int) (customers int, last bool, err error) {
	type place struct {
		position, dated int64
		side            int16
	}

	var t *tallying
	var head int64
	err = inPieces(ctx, s.database, func(db *gorm.DB) (at place, err error) {
		if err := s.alone(db); err != nil {
			return at, err
		}
		var state leaderboardRow
		if err := db.Limit(1).Find(&state).Error; err != nil {
			return at, err
		}
		if state.Generation != generation {
			return at, loyalty.ErrBatchConflict
		}
		at.dated, at.side = state.Dated, state.counted()
		at.position, head, err = followed(db, boardFollower)
		return at, err
	}, func(db *gorm.DB, at place) (some bool, err error) {
		_, spread := s.engine.(*citusEngine)
		t = &tallying{db: db, spread: spread, calendar: calendar, side: at.side, from: at.position, families: map[UUID]*ranked{}, members: map[UUID]*ranked{}}
		together := at.dated == at.position
		switch {
		case together || at.position < head:
			t.through = min(at.position+int64(limit), head)
			t.all, t.dated, last = true, together, together && t.through == head
		case at.dated == uncleared:
			t = nil
			return true, nil
		default:
			t.from, t.through, t.dated = at.dated, min(at.dated+int64(limit), at.position), true
			last = t.through == at.position
		}

		if t.from == t.through {
			return false, nil
		}

		customers, err = t.count()
		return true, err
	}, func(db *gorm.DB, at place) error {
		if t == nil {
			return clearDated(db, at.side, limit)
		}

		t.db = db
		if t.all {
			if err := follow(db, boardFollower, t.through); err != nil {
				return err
			}
		}

		if t.dated {
			if err := db.Model(&leaderboardRow{ID: 1}).Update("dated", t.through).Error; err != nil {
				return err
			}
		}

		return t.write()
	})

	return customers, last, s.classify(err)
}

// boardFollower is the leaderboard's name as a follower of the tail.
const boardFollower = "leaderboard"

// uncleared is the position of the dated boards until those of the last generation are deleted.
const uncleared = -1

// clearDated deletes the dated boards of one side; when none is left, they are counted from the beginning.
func clearDated(db *gorm.DB, side int16, limit int) error {
	for p := loyalty.BoardYear; p <= loyalty.BoardDay; p++ {
		if n, err := drop(db, limit, "kind = ?", kindOf(loyalty.Board{Period: p, Side: side})); err != nil || n > 0 {
			return err
		}
	}
	return db.Model(&leaderboardRow{ID: 1}).Update("dated", 0).Error
}
