package store

import (
	"database/sql"
	"errors"
	"maps"
	"slices"

	"github.com/pressly/goose/v3"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// oneInstant makes every statement of a transaction see the same instant.
var oneInstant = &sql.TxOptions{Isolation: sql.LevelRepeatableRead}

// alone waits until no other node counts, before the transaction sees anything: on SQLite the transaction has waited
// already. It also keeps the planner from scanning tables for a few hundred customers.
func (s boardStore) alone(db *gorm.DB) error {
	if s.dialect() != goose.DialectPostgres {
		return nil
	}
	return db.Exec("LOCK TABLE leaderboard IN EXCLUSIVE MODE;\n" + boundCounting).Error
}

// boundCounting limits the time of a counting transaction, and keeps it to indexes. It plans for the current size of
// the tables: a plan made while they were empty would read all rows of a board for a few customers' until the tables
// are analysed.
const boundCounting = `SET LOCAL statement_timeout = '5min'; SET LOCAL idle_in_transaction_session_timeout = '60s'; SET LOCAL enable_seqscan = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL jit = off; SET LOCAL plan_cache_mode = force_custom_plan`

// tallying counts the events of the tail after one number, up to another.
type tallying struct {
	db            *gorm.DB
	from, through int64
	spread        bool // over several machines
	all, dated    bool // whether the board of all time is counted, and the dated boards
	calendar      *loyalty.BoardCalendar
	side          int16            // of the dated boards that are counted
	families      map[UUID]*ranked // by the customer that the others were merged into
	members       map[UUID]*ranked // the same, by each member
}

// count counts the events, and returns the number of their customers.
func (t *tallying) count() (customers int, err error) {
	var ids []UUID
	if err := t.db.Table("tail").Where("number > ? AND number <= ?", t.from, t.through).Distinct().Pluck("customer_id", &ids).Error; err != nil {
		return 0, err
	}
	if err := t.find(ids); err != nil {
		return 0, err
	}
	return len(ids), t.journal()
}

// ranked is a customer with those who were merged into them: the scores of all of them are theirs, in the periods in
// which they were scored. Points that a merge moves do not count as a score.
type ranked struct {
	id     UUID
	shown  bool
	before []rankingRow
	scores map[loyalty.Board]int64
}

// member holds the columns of a customer that boards need.
type member struct {
	ID         UUID
	MergedInto UUID
	Status     loyalty.Status
}

// find gathers the families of the customers.
func (t *tallying) find(ids []UUID) error {
	named, err := t.people("id", ids)
	if err != nil {
		return err
	}

	roots, unread := map[UUID]bool{}, map[UUID]bool{}
	for _, m := range named {
		roots[m.root()] = true
		if unread[m.root()] = true; m.root() == m.ID {
			t.add(m)
		}
	}

	for id := range t.families { // nearly all: only a merged customer has another root
		delete(unread, id)
	}

	for column, ids := range map[string]map[UUID]bool{"id": unread, "merged_into": roots} {
		people, err := t.people(column, slices.Collect(maps.Keys(ids)))
		if err != nil {
			return err
		}
		for _, m := range people {
			t.add(m)
		}
	}

	return nil
}

func (m *member) root() UUID {
	if m.MergedInto != (UUID{}) {
		return m.MergedInto
	}
	return m.ID
}

func (t *tallying) people(column string, ids []UUID) (people []member, err error) {
	var m member
	return people, eachOf(t.db, "SELECT id, merged_into, status FROM customers WHERE "+column, ids, func() { people = append(people, m) },
		&m.ID, &m.MergedInto, (*plain)(&m.Status))
}

// eachOf reads the rows in which a column has one of some ids, without reflection. On PostgreSQL the ids travel as
// one array, so that one prepared text serves any number. text ends with the column; row is called after each row is
// read into the places.
func eachOf(db *gorm.DB, text string, ids []UUID, row func(), places ...any) error {
	if len(ids) == 0 {
		return nil
	}

	query := db.Raw(text+" IN ?", ids)
	if db.Name() == "postgres" {
		query = db.Raw(text+" = ANY(?)", &array[UUID]{ids, func(id *UUID) any { return id }})
	}

	rows, err := query.Rows()
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error

	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return err
		}
		row()
	}

	return rows.Err()
}

func (t *tallying) add(m member) {
	f := t.families[m.root()]
	if f == nil {
		f = &ranked{id: m.root(), scores: map[loyalty.Board]int64{}}
		t.families[m.root()] = f
	}
	if m.ID == f.id {
		f.shown = m.Status == loyalty.Active
	}
	t.members[m.ID] = f
}

// standing reads what is counted already. It runs in the writing transaction, because ForgetBoards deletes old rows
// concurrently.
func (t *tallying) standing() error {
	var r rankingRow
	return eachOf(t.db, "SELECT customer_id, kind, start, score, shown FROM rankings WHERE customer_id", slices.Collect(maps.Keys(t.members)), func() {
		f := t.members[r.CustomerID]
		f.before = append(f.before, r)
		if b := r.board(); t.counts(b) && t.calendar.Keeps(b) {
			f.scores[b] += r.Score
		}
	}, &r.CustomerID, wholeIn(&r.Kind), wholeIn(&r.Start), (*number)(&r.Score), (*flag)(&r.Shown))
}

// counts reports whether a board is being counted. The others are complete dated boards that stay during a recount.
func (t *tallying) counts(b loyalty.Board) bool {
	return b.Period == loyalty.BoardAll || b.Side == t.side
}

// scoredText reads the scores of the events of a stretch of the tail. On PostgreSQL each is looked up by its key, and
// in the months of the stretch only: with a join the planner reads either table by other columns of its keys.
func scoredText(db *gorm.DB) string {
	if db.Name() != "postgres" {
		return `SELECT t.customer_id, e.at, CAST(SUM(CASE p.from_account WHEN @issued THEN p.points ELSE -p.points END) AS bigint) AS score
FROM tail t JOIN events e ON ` + feedOne + ` JOIN postings p ON p.customer_id = t.customer_id AND p.event_id = t.event_id
WHERE t.number > @from AND t.number <= @through AND (p.from_account = @issued OR p.to_account = @issued) AND e.action <> 'merge'
GROUP BY t.number, t.customer_id, e.at`
	}
	return `SELECT t.customer_id, e.at, p.score FROM tail t CROSS JOIN LATERAL (
SELECT CAST(SUM(CASE p.from_account WHEN @issued THEN p.points ELSE -p.points END) AS bigint) AS score FROM postings p
WHERE p.customer_id = t.customer_id AND p.event_id = t.event_id AND (p.from_account = @issued OR p.to_account = @issued)) p
CROSS JOIN LATERAL (SELECT e.at, e.action FROM events e WHERE ` + feedOne + ` AND e.recorded_at BETWEEN @first AND @last LIMIT 1) e
WHERE t.number > @from AND t.number <= @through AND p.score <> 0 AND e.action <> 'merge'`
}

// journal adds the scores. It leaves out the postings of merges.
func (t *tallying) journal() error {
	span, err := spanOf(t.db, t.from, t.through)
	if err != nil {
		return err
	}

	rows, err := t.db.Raw(scoredText(t.db), map[string]any{
		"issued": points.Issued, "from": t.from, "through": t.through, "first": span.first, "last": span.last,
	}).Rows()
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error

	for rows.Next() {
		var customer UUID
		var at Millis
		var score int64
		if err := rows.Scan(&customer, &at, &score); err != nil {
			return err
		}
		if score == 0 {
			continue
		}

		for _, b := range t.calendar.Of(at.Time()) {
			switch {
			case b.Period == loyalty.BoardAll && t.all:
				t.members[customer].scores[b] += score
			case b.Period != loyalty.BoardAll && t.dated:
				b.Side = t.side
				t.members[customer].scores[b] += score
			}
		}
	}

	return rows.Err()
}

// write updates the rows to the counted scores.
func (t *tallying) write() error {
	if err := t.standing(); err != nil {
		return err
	}

	var changed boardChanges
	moved := moves{}
	for _, f := range t.families {
		f.changes(t, &changed, moved)
	}

	if err := remove(t.db, changed.gone); err != nil {
		return err
	}

	switch {
	case t.db.Name() != "postgres":
		put := t.db.Clauses(clause.OnConflict{UpdateAll: true})
		return errors.Join(create(put, append(changed.known, changed.fresh...)), moved.write(t.db))
	case t.spread:
		return errors.Join(upsertRankings.in(t.db, append(changed.known, changed.fresh...)), moved.write(t.db))
	}

	return errors.Join(updateRankings.in(t.db, changed.known), insertRankings.in(t.db, changed.fresh), moved.write(t.db))
}

// boardChanges are the rows of boards to update, to insert and to delete.
type boardChanges struct{ known, fresh, gone []rankingRow }

// Rows of boards travel as arrays: PostgreSQL spends more on reading a thousand rows of five parameters each than on
// writing them. A counting transaction is alone and has read the existing rows, so it neither locks rows before
// writing nor looks for them before inserting.
var (
	insertRankings = inserts("INSERT INTO rankings (customer_id, kind, start, score, shown) SELECT * FROM v", rankingFields...)
	updateRankings = inserts(`UPDATE rankings r SET score = v.score, shown = v.shown FROM v
WHERE r.customer_id = v.customer_id AND r.kind = v.kind AND r.start = v.start`, rankingFields...)
	// Citus would send an UPDATE of many rows to every machine; an insert goes to the row's own machine
	upsertRankings = inserts(`INSERT INTO rankings (customer_id, kind, start, score, shown) SELECT * FROM v WHERE true
ON CONFLICT (customer_id, kind, start) DO UPDATE SET score = excluded.score, shown = excluded.shown`, rankingFields...)
)

var rankingFields = []field[rankingRow]{
	{"customer_id", "uuid", func(r *rankingRow) any { return &r.CustomerID }},
	{"kind", "smallint", func(r *rankingRow) any { return wholeIn(&r.Kind) }},
	{"start", "integer", func(r *rankingRow) any { return wholeIn(&r.Start) }},
	{"score", "bigint", func(r *rankingRow) any { return (*number)(&r.Score) }},
	{"shown", "boolean", func(r *rankingRow) any { return (*flag)(&r.Shown) }},
}

// writtenAtOnce is how many rows one statement writes.
const writtenAtOnce = 1000

func create[T any](db *gorm.DB, rows []T) error {
	if len(rows) == 0 {
		return nil
	}
	return db.CreateInBatches(rows, writtenAtOnce).Error
}

func remove(db *gorm.DB, gone []rankingRow) error {
	for some := range slices.Chunk(gone, writtenAtOnce) {
		keys := make([][]any, len(some))
		for i, r := range some {
			keys[i] = []any{r.CustomerID, r.Kind, r.Start}
		}
		if err := db.Where("(customer_id, kind, start) IN ?", keys).Delete(&rankingRow{}).Error; err != nil {
			return err
		}
	}
	return nil
}

// changes adds the rows to write and to delete. moved collects the stretches that they leave and enter.
func (f *ranked) changes(t *tallying, to *boardChanges, moved moves) {
	for _, r := range f.before {
		b := r.board()
		score, kept := f.scores[b]
		own, shown := r.CustomerID == f.id, f.shown
		switch {
		case !t.counts(b): // it keeps its score, and shows only customers who are still active
			score, kept, shown = r.Score, true, f.shown && own
		case own && kept:
			delete(f.scores, b)
		default:
			kept = false
			to.gone = append(to.gone, r)
		}

		if kept && r.Score == score && r.Shown == shown {
			continue
		}

		moved.add(&r, -1)
		if kept {
			r.Score, r.Shown = score, shown
			to.known = append(to.known, r)
			moved.add(&r, 1)
		}
	}

	for b, score := range f.scores {
		r := rankingRow{f.id, kindOf(b), b.Start, score, f.shown}
		to.fresh = append(to.fresh, r)
		moved.add(&r, 1)
	}
}
