package store

import (
	"context"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// feedFields and feedOne read the events of a stretch of the tail, each by its key: with a join, PostgreSQL may read
// the whole journal.
var (
	feedEvent  = "SELECT " + eventTable.of("e", "effects", `CASE WHEN e.action IN ('`+strings.Join(loyalty.EffectsShown, "', '")+`') THEN e.effects END AS effects`)
	feedFields = feedEvent + `, t.number FROM tail t `
)

const feedOne = `e.customer_id = t.customer_id AND e.id = t.event_id AND e.recorded_at = t.recorded_at`

// feedStatement reads events by their numbers.
func feedStatement(db *gorm.DB) string {
	if db.Name() == "postgres" {
		return feedFields + "CROSS JOIN LATERAL (SELECT * FROM events e WHERE " + feedOne + " LIMIT 1) e"
	}
	return feedFields + "JOIN events e ON " + feedOne
}

// recordedSpan is when the first and the last events of a stretch of the tail were recorded.
type recordedSpan struct{ first, last Millis }

// behind joins the rows of the tail with their events. On PostgreSQL it names the months of the period: otherwise
// each event is searched in all months, which takes longer than reading it.
func (s recordedSpan) behind(db *gorm.DB) sqlFragment {
	if db.Name() == "postgres" {
		return sqlFragment{"CROSS JOIN LATERAL (SELECT * FROM events e WHERE " + feedOne + " AND e.recorded_at BETWEEN ? AND ? LIMIT 1) e", []any{s.first, s.last}}
	}
	return sqlFragment{"JOIN events e ON " + feedOne, nil}
}

// spanOf reads the span of the numbers after from, up to through; only PostgreSQL needs it.
func spanOf(db *gorm.DB, from, through int64) (s recordedSpan, err error) {
	if db.Name() != "postgres" {
		return s, nil
	}

	rows, err := db.Raw(`SELECT min(t.recorded_at), max(t.recorded_at) FROM tail t`+inPiece, from, through).Rows()
	if err != nil {
		return s, err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error

	for rows.Next() {
		if err := rows.Scan(&s.first, &s.last); err != nil {
			return s, err
		}
	}

	return s, rows.Err()
}

// spanned is the span of a stretch that was read.
func spanned(stretch []loyalty.TailEvent) recordedSpan {
	s := recordedSpan{Millis(stretch[0].RecordedAt), Millis(stretch[0].RecordedAt)}
	for i := range stretch {
		at := stretch[i].RecordedAt
		if at.Before(s.first.Time()) {
			s.first = Millis(at)
		}
		if at.After(s.last.Time()) {
			s.last = Millis(at)
		}
	}
	return s
}

// Feed reads a part of the tail with its events, in the form of lists of events.
func (s journalStore) Feed(ctx context.Context, q loyalty.FeedQuery) (loyalty.FeedPart, error) {
	part := loyalty.FeedPart{Through: q.After}
	var stretch []loyalty.TailEvent
	err := s.consistent(ctx, func(db *gorm.DB) (err error) {
		stretch, err = feedOf(db, &part, &q)
		return err
	})
	if err != nil {
		return part, err
	}

	read := len(part.Events)
	if err := s.accompany(ctx, &part.EventPage, false, changesEach); err != nil {
		return part, err
	}
	if part.Numbers = part.Numbers[:len(part.Events)]; len(part.Events) < read {
		part.More = true
	}
	if part.More && len(part.Numbers) > 0 {
		part.Through = part.Numbers[len(part.Numbers)-1]
	}
	if at := slices.IndexFunc(stretch, func(e loyalty.TailEvent) bool { return e.Number > part.Through }); at >= 0 {
		part.Behind = stretch[at]
	}
	if q.Postings && len(part.Events) > 0 {
		err = s.addPostings(ctx, &part)
	}

	return part, err
}

// feedOf reads a part of the tail, one number more than wanted, and its wanted events.
func feedOf(db *gorm.DB, part *loyalty.FeedPart, q *loyalty.FeedQuery) ([]loyalty.TailEvent, error) {
	var state tailStateRow
	if err := db.Limit(1).Find(&state).Error; err != nil {
		return nil, err
	}

	part.Head = state.Head
	scan := q.Scan
	if len(q.Actions)+len(q.Prefixes)+len(q.SentBy) == 0 && q.From.IsZero() && q.Before.IsZero() {
		scan = q.Limit
	}

	stretch, err := tailTable.find(db.Where("number > ?", q.After).Order("number").Limit(scan + 1))
	if n := min(scan, len(stretch)); err == nil && n > 0 {
		part.Through = stretch[n-1].Number
		err = addFeed(db, part, q, stretch[:n])
	}

	return stretch, err
}

// addFeed reads the wanted events up to Through, limited by their number and their bytes.
func addFeed(db *gorm.DB, part *loyalty.FeedPart, q *loyalty.FeedQuery, stretch []loyalty.TailEvent) error {
	w, recorded := sqlFragment{}, "t.recorded_at"
	if db.Name() == "citus" {
		recorded = "e.recorded_at"
	}
	if text, args := actionsLike(q); text != "" {
		w = w.and(text, args...)
	}
	if len(q.SentBy) > 0 {
		w = w.and("e.sent_by IN ?", q.SentBy)
	}
	if !q.From.IsZero() {
		w = w.and(recorded+" >= ?", Millis(q.From))
	}
	if !q.Before.IsZero() {
		w = w.and(recorded+" < ?", Millis(q.Before))
	}

	size := 0
	take := func(e *loyalty.Event, number int64) bool {
		if part.More = len(part.Events) == q.Limit || size > maxRead; part.More {
			return true
		}
		part.Events, part.Numbers = append(part.Events, *e), append(part.Numbers, number)
		size += loyalty.Weight(e)
		return false
	}

	if db.Name() == "citus" {
		return spreadFeed(db, w, stretch, take)
	}

	w = w.and("t.number > ?", q.After).and("t.number <= ?", part.Through)
	events := spanned(stretch).behind(db)
	return feedRows(db, feedFields+events.text+w.where()+" ORDER BY t.number LIMIT ?", append(append(events.args, w.args...), q.Limit+1), take)
}

// eventsAt reads the events at some numbers of the tail, in their order.
func eventsAt(db *gorm.DB, numbers []int64, take func(*loyalty.Event, int64) bool) error {
	if db.Name() != "citus" {
		return feedRows(db, feedStatement(db)+" WHERE t.number IN ? ORDER BY t.number", []any{numbers}, take)
	}
	stretch, err := tailTable.find(db.Where("number IN ?", numbers).Order("number"))
	if err != nil {
		return err
	}
	return spreadFeed(db, sqlFragment{}, stretch, take)
}

func feedRows(db *gorm.DB, text string, args []any, take func(*loyalty.Event, int64) bool) error {
	var number int64
	return eventTable.each(db.Raw(text, args...), func(e *loyalty.Event) bool { return take(e, number) }, &number)
}

// actionsLike is the condition on the wanted actions.
func actionsLike(q *loyalty.FeedQuery) (text string, args []any) {
	or := func(condition string, values ...any) {
		if text != "" {
			text += " OR "
		}
		text, args = text+condition, append(args, values...)
	}

	if len(q.Actions) > 0 {
		or("e.action IN ?", q.Actions)
	}

	for _, p := range q.Prefixes {
		or("substr(e.action, 1, ?) = ?", len(p), p)
	}

	if text != "" {
		text = "(" + text + ")"
	}

	return text, args
}

// addPostings reads how the events moved points.
func (s journalStore) addPostings(ctx context.Context, part *loyalty.FeedPart) error {
	part.Postings = map[loyalty.ID][]loyalty.CustomerPosting{}
	wanted := make(ownEvents, 0, len(part.Events))
	for i := range part.Events {
		e := &part.Events[i]
		wanted = append(wanted, ownEvent{UUID(e.Customer), UUID(e.ID)})
		if e.Effects != nil && e.Effects.MergedFrom != nil {
			wanted = append(wanted, ownEvent{UUID(*e.Effects.MergedFrom), UUID(e.ID)})
		}
	}

	const theirs = `p.customer_id = v.customer_id AND p.event_id = v.id`
	posted := "JOIN postings p ON " + theirs
	if s.read.Name() == "postgres" { // each by its key, like the events
		posted = "CROSS JOIN LATERAL (SELECT * FROM postings p WHERE " + theirs + " OFFSET 0) p"
	}

	var p loyalty.CustomerPosting
	customers, ids := wanted.columns()
	text := "WITH v(customer_id, id) AS ? SELECT " + postingTable.of("p") + " FROM v " + posted + " ORDER BY p.event_id, p.seq, p.customer_id"
	return s.asks(ctx, sqlFragment{text, []any{wanted}}.reads(func() bool {
		part.Postings[p.Event] = append(part.Postings[p.Event], p)
		return false
	}, postingTable.into(&p)...).onCitus("SELECT "+postingTable.of("p")+" FROM postings p WHERE p.customer_id IN ? AND p.event_id IN ? ORDER BY p.event_id, p.seq, p.customer_id", customers, ids))
}
