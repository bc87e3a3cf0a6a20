package store

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/pressly/goose/v3"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// tailStore numbers committed events.
type tailStore struct{ *database }

// tailStateRow is the one row of the state.
type tailStateRow struct {
	ID         int16 `gorm:"primaryKey;autoIncrement:false"`
	Head       int64
	Present    bool
	LookedAt   Millis
	ComparedAt Millis
}

func (tailStateRow) TableName() string { return "tail_state" }

// tailTable holds the events of the tail.
var tailTable = table[loyalty.TailEvent]{name: "tail", fields: []field[loyalty.TailEvent]{
	{"number", "bigint", func(e *loyalty.TailEvent) any { return (*number)(&e.Number) }},
	{"customer_id", "uuid", func(e *loyalty.TailEvent) any { return (*UUID)(&e.Customer) }},
	{"event_id", "uuid", func(e *loyalty.TailEvent) any { return (*UUID)(&e.ID) }},
	{"recorded_at", "bigint", func(e *loyalty.TailEvent) any { return (*Millis)(&e.RecordedAt) }},
}}

// TailState reads the state of the tail.
func (s tailStore) TailState(ctx context.Context) (loyalty.TailState, error) {
	var r tailStateRow
	err := s.read.WithContext(ctx).Limit(1).Find(&r).Error
	return loyalty.TailState{Head: r.Head, Present: r.Present, Looked: r.LookedAt.Time(), Compared: r.ComparedAt.Time()}, s.classify(err)
}

// NoteTail records that the present was reached, and when the last look and comparison took place.
func (s tailStore) NoteTail(ctx context.Context, present bool, looked, compared time.Time) error {
	later := func(column string, at time.Time) clause.Expr {
		return gorm.Expr("CASE WHEN "+column+" > ? THEN "+column+" ELSE ? END", Millis(at), Millis(at))
	}
	changes := map[string]any{"looked_at": later("looked_at", looked)}
	if present {
		changes["present"] = true
	}
	if !compared.IsZero() {
		changes["compared_at"] = later("compared_at", compared)
	}
	return s.classify(s.write.WithContext(ctx).Model(&tailStateRow{}).Where("id = 1").Updates(changes).Error)
}

// Committed has a signal after this process committed events, for one waiting receiver.
func (s tailStore) Committed() <-chan struct{} { return s.own.news }

// Tail reads the events after a number, in order.
func (s tailStore) Tail(ctx context.Context, after int64, limit int) ([]loyalty.TailEvent, error) {
	list, err := tailTable.find(s.read.WithContext(ctx).Where("number > ?", after).Order("number").Limit(limit))
	return list, s.classify(err)
}

// NumberOwn numbers the events that this process committed. If an event's predecessor of the same customer is the
// customer's last in the tail, the event is numbered without reading the journal; if another node wrote between them,
// the journal is read. On failure the unnumbered events stay noted.
func (s tailStore) NumberOwn(ctx context.Context) error {
	for list := s.own.take(); len(list) > 0; {
		n := min(len(list), tailPiece)
		if err := s.numberFresh(ctx, list[:n]); err != nil {
			s.own.giveBack(list)
			return err
		}
		list = list[n:]
	}
	s.own.numbered()
	return nil
}

// numberFresh numbers a piece of the noted events; events that have a number already keep it.
func (s tailStore) numberFresh(ctx context.Context, list []fresh) error {
	// Citus would send an UPDATE of many customers to every machine
	if _, spread := s.engine.(*citusEngine); !spread && s.own.alone() {
		err := s.next(ctx, list)
		s.own.met(errors.Is(err, loyalty.ErrBatchConflict))
		if !errors.Is(err, loyalty.ErrBatchConflict) {
			return err
		}
	}

	strays := map[loyalty.ID]bool{}
	present := false
	err := s.piece(ctx, list, func(p *piece) {
		present = p.present
		for i := range list {
			switch l := &list[i]; {
			case p.through[l.Customer] == l.before && !strays[l.Customer]:
				p.add(l.TailEvent)
			case loyalty.CompareID(l.ID, p.through[l.Customer]) > 0:
				strays[l.Customer] = true
			}
		}
	})
	if err != nil || !present { // not at the present: their earlier events come first, in turn
		return err
	}

	customers := make([]arrears, 0, len(strays))
	for id := range strays {
		customers = append(customers, arrears{customer: id, to: loyalty.ID(lastID)})
	}

	return s.number(ctx, customers)
}

// unnumbered is the condition that an event is not in the tail. It is a subquery for each row, by the key: a join
// could become a scan of all customers.
func unnumbered(customer, event string) string {
	return "NOT coalesce((SELECT w.through >= " + event + " FROM numbered w WHERE w.customer_id = " + customer + "), false)"
}

// NumberRecorded numbers events by the time of recording. If a customer's ids give another order than the clocks, the
// ids decide: earlier ids come first.
func (s tailStore) NumberRecorded(ctx context.Context, after loyalty.Cursor, before time.Time, limit int) (next loyalty.Cursor, last bool, err error) {
	// the bounds on the time alone select the months of the journal, so that future ones are not even planned for
	rows, err := eventTable.some("customer_id", "id", "recorded_at").find(s.read.WithContext(ctx).
		Where("recorded_at >= ? AND recorded_at < ? AND (recorded_at, id) > (?, ?)", Millis(after.At), Millis(before), Millis(after.At), cmp.Or(UUID(after.ID), firstID)).
		Where(unnumbered("events.customer_id", "events.id")).Order("recorded_at, id").Limit(limit))
	if err != nil || len(rows) == 0 {
		return after, true, s.classify(err)
	}

	latest := map[loyalty.ID]loyalty.ID{}
	for i := range rows {
		if e := &rows[i]; loyalty.CompareID(e.ID, latest[e.Customer]) > 0 {
			latest[e.Customer] = e.ID
		}
	}

	customers := make([]arrears, 0, len(latest))
	for id, to := range latest {
		customers = append(customers, arrears{customer: id, to: to})
	}

	end := rows[len(rows)-1]
	return loyalty.Cursor{At: end.RecordedAt, ID: end.ID}, len(rows) < limit, s.number(ctx, customers)
}

// NumberBehind numbers the events of customers that are missing in the tail, whenever they were recorded.
func (s tailStore) NumberBehind(ctx context.Context, after loyalty.ID, limit int) (next loyalty.ID, last bool, err error) {
	ids, err := s.ids(s.read.WithContext(ctx).Table("balances").Where("customer_id > ? AND last_event IS NOT NULL", cmp.Or(UUID(after), firstID)).
		Where(unnumbered("balances.customer_id", "balances.last_event")).Order("customer_id").Limit(limit), "customer_id")
	if err != nil || len(ids) == 0 {
		return after, true, err
	}
	customers := make([]arrears, len(ids))
	for i, id := range ids {
		customers[i] = arrears{customer: id, to: loyalty.ID(lastID)}
	}
	return ids[len(ids)-1], len(ids) < limit, s.number(ctx, customers)
}

// followerRow is the position of a follower of the tail.
type followerRow struct {
	Name     string `gorm:"primaryKey"`
	Position int64
}

func (followerRow) TableName() string { return "followers" }

// followed reads, in the follower's own transaction, the number up to which it has worked, and the last number.
func followed(db *gorm.DB, name string) (position, head int64, err error) {
	var f followerRow
	var state tailStateRow
	err = errors.Join(db.Where("name = ?", name).Limit(1).Find(&f).Error, db.Limit(1).Find(&state).Error)
	return f.Position, state.Head, err
}

// follow moves a follower's position, together with its work.
func follow(db *gorm.DB, name string, position int64) error {
	return db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&followerRow{name, position}).Error
}

// inPieces takes a follower through one piece of the tail: stand reads its position, look reads the piece and
// computes what to write, if anything, and keep writes that together with the new position. On PostgreSQL this is one
// transaction. On SQLite, where a writer blocks all others, look has its own snapshot, and the writer is taken only
// for keep: if the follower's position differs by then, another process followed meanwhile, and inPieces fails with
// ErrBatchConflict. So look may read only what the follower alone changes, or what may be slightly outdated.
func inPieces[P comparable](ctx context.Context, s *database, stand func(*gorm.DB) (P, error), look func(*gorm.DB, P) (some bool, err error), keep func(*gorm.DB, P) error) error {
	var at P
	some := false
	looking := func(db *gorm.DB) (err error) {
		if at, err = stand(db); err == nil {
			some, err = look(db, at)
		}
		return err
	}

	if s.dialect() != goose.DialectSQLite3 {
		return s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
			if err := looking(db); err != nil || !some {
				return err
			}
			return keep(db, at)
		}, oneInstant)
	}

	if err := s.read.WithContext(ctx).Transaction(looking, oneInstant); err != nil || !some {
		return err
	}

	return s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		switch now, err := stand(db); {
		case err != nil:
			return err
		case now != at:
			return loyalty.ErrBatchConflict
		}
		return keep(db, at)
	}, oneInstant)
}
