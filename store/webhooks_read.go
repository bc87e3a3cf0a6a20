package store

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// deliveryColumns are the fields of a delivery that can be filtered, besides the customer.
var deliveryColumns = map[string]filterColumn{
	"state":      {expression: "state", few: true},
	"type":       {expression: "type", few: true},
	"created_at": {expression: "created_at"},
}

// Deliveries lists deliveries, the newest first.
func (s webhookStore) Deliveries(ctx context.Context, q loyalty.DeliveryQuery) ([]loyalty.Delivery, error) {
	w := sqlFragment{}.and("webhook_id = ?", UUID(q.Webhook))
	for _, c := range q.Conditions {
		if c.Field == "customer" {
			ids := make([]UUID, 0, len(c.Values))
			for _, v := range c.Values {
				ids = append(ids, UUID(v.(loyalty.ID)))
			}
			w = w.and("customer_id IN [[SELECT id FROM customers WHERE id IN ?"+orMergedAny+"?]]", ids, ids)
			continue
		}
		var err error
		if w, err = w.andAll(deliveryColumns, []loyalty.Condition{c}); err != nil {
			return nil, err
		}
	}

	order, offset := " ORDER BY number DESC", 0
	switch {
	case q.After != 0:
		w = w.and("number < ?", q.After)
	case q.Before != 0:
		w, order = w.and("number > ?", q.Before), " ORDER BY number"
	default:
		offset = q.Offset
	}

	var rows []deliveryRow
	var known number
	names := map[loyalty.ID]loyalty.Person{}
	text := sqlFragment{fmt.Sprintf("SELECT * FROM deliveries%s%s LIMIT %d OFFSET %d", w.where(), order, q.Limit, offset), w.args}
	exists := sqlFragment{"SELECT 1 FROM webhooks WHERE id = ?", []any{UUID(q.Webhook)}}.one(&known)
	err := s.ask(ctx, []question{exists, modelledBy(s.read.WithContext(ctx), text, &rows)}, func() ([]question, error) {
		if known == 0 {
			return nil, loyalty.ErrWebhookNotFound.With("webhook", q.Webhook.String())
		}
		return holdersAbout(rows, names), nil
	})
	if err != nil {
		return nil, err
	}
	if q.Before != 0 && q.After == 0 {
		slices.Reverse(rows)
	}

	list := make([]loyalty.Delivery, len(rows))
	for i := range rows {
		rows[i].Subject = nil // only the sender needs it
		if list[i], err = s.delivery(&rows[i]); err != nil {
			return nil, err
		}
		list[i].Name = nameOf(names, list[i].Customer)
	}

	return list, nil
}

// holdersAbout makes the question for the customers of deliveries.
func holdersAbout(rows []deliveryRow, names map[loyalty.ID]loyalty.Person) []question {
	var people []UUID
	for i := range rows {
		if id := rows[i].CustomerID; id != (UUID{}) {
			people = also(people, loyalty.ID(id))
		}
	}
	if len(people) == 0 {
		return nil
	}
	return []question{holdersOf(people, names)}
}

// nameOf is a customer's name; empty if they left.
func nameOf(names map[loyalty.ID]loyalty.Person, id loyalty.ID) string {
	if c, known := names[id]; known && c.Status != loyalty.OptedOut {
		return c.Name
	}
	return ""
}

// modelledBy is modelled for a statement in SQL.
func modelledBy[Row any](db *gorm.DB, w sqlFragment, list *[]Row) question {
	q := modelled(db, list)
	q.sqlFragment = w
	return q
}

// attemptsShown is how many attempts of a delivery are read.
const attemptsShown = 50

// Delivery reads a delivery with its attempts, the newest first.
func (s webhookStore) Delivery(ctx context.Context, webhook loyalty.ID, number int64) (d loyalty.Delivery, list []loyalty.Attempt, err error) {
	var found []deliveryRow
	var rows []attemptRow
	var sealed []customerKeyRow
	names := map[loyalty.ID]loyalty.Person{}
	db := s.read.WithContext(ctx)
	first := []question{
		modelled(db.Where("webhook_id = ? AND number = ?", UUID(webhook), number), &found),
		modelled(db.Where("webhook_id = ? AND number = ?", UUID(webhook), number).Order("n DESC").Limit(attemptsShown), &rows),
	}

	err = s.ask(ctx, first, func() ([]question, error) {
		if len(found) == 0 {
			return nil, loyalty.ErrDeliveryNotFound.With("delivery", number)
		}
		then := holdersAbout(found, names)
		if then != nil {
			then = append(then, modelled(db.Where("customer_id = ?", found[0].CustomerID), &sealed))
		}
		return then, nil
	})
	if err != nil {
		return d, nil, err
	}
	if d, err = s.delivery(&found[0]); err != nil {
		return d, nil, err
	}

	d.Name = nameOf(names, d.Customer)
	var key []byte
	if len(sealed) > 0 {
		if key, err = s.sealer.open(rowID("customer_keys", string(sealed[0].CustomerID[:])), sealed[0].Sealed); err != nil {
			return d, nil, err
		}
	}

	for i := range rows {
		r := &rows[i]
		a := loyalty.Attempt{Number: r.N, At: r.At.Time(), Status: r.Status, Fault: string(r.Fault), Duration: time.Duration(r.Duration) * time.Microsecond}
		if a.Answer, err = s.openAnswer(key, found[0].CustomerID, r); err != nil {
			return d, nil, err
		}
		list = append(list, a)
	}

	return d, list, nil
}

// EventsAt reads the events at some numbers of the tail.
func (s webhookStore) EventsAt(ctx context.Context, numbers []int64, postings bool) (loyalty.FeedPart, error) {
	part := loyalty.FeedPart{}
	if len(numbers) == 0 {
		return part, nil
	}

	take := func(e *loyalty.Event, number int64) bool {
		part.Events, part.Numbers = append(part.Events, *e), append(part.Numbers, number)
		return false
	}

	err := eventsAt(s.read.WithContext(ctx), numbers, take)
	if err != nil {
		return part, s.fault(err)
	}

	journal := journalStore(s)
	if err := journal.accompany(ctx, &part.EventPage, false, changesEach); err != nil {
		return part, err
	}
	if postings && len(part.Events) > 0 {
		err = journal.addPostings(ctx, &part)
	}

	return part, err
}

// CustomersByID reads customers with their figures, for merged customers those of their targets.
func (s webhookStore) CustomersByID(ctx context.Context, ids []loyalty.ID) (map[loyalty.ID]loyalty.Customer, error) {
	found := map[loyalty.ID]loyalty.Customer{}
	for _, id := range ids {
		now := sqlFragment{"{{SELECT COALESCE(c.merged_into, c.id) FROM customers c WHERE c.id = ?}}", []any{UUID(id)}}
		c, err := s.customerOf(ctx, now)
		if err != nil {
			return nil, err
		}
		found[id] = c
	}
	return found, nil
}

// slack is the greatest difference between the recording times of neighbouring numbers: an event that commits late,
// or with a slow clock, has a higher number than its time suggests.
const slack = time.Hour

// Stretch returns the numbers that enclose everything recorded in a period. Numbers grow with the time of recording
// except for the slack, so both ends are found by bisection.
func (s webhookStore) Stretch(ctx context.Context, from, to time.Time) (after, until int64, err error) {
	err = s.consistent(ctx, func(db *gorm.DB) error {
		var state tailStateRow
		if err := db.Limit(1).Find(&state).Error; err != nil {
			return err
		}

		var failed error
		first := func(at time.Time) int64 { // the first number recorded at that instant or later
			return int64(sort.Search(int(state.Head), func(i int) bool {
				var recorded Millis
				if failed == nil {
					failed = db.Table("tail").Where("number = ?", i+1).Select("recorded_at").Row().Scan(&recorded)
				}
				return !recorded.Time().Before(at)
			})) + 1
		}

		after = first(from.Add(-slack)) - 1
		until = min(state.Head, first(to.Add(slack)))
		return failed
	})

	return after, until, err
}

// CountEvents counts the events of a replay with matching actions.
func (s webhookStore) CountEvents(ctx context.Context, r *loyalty.Replay, actions, prefixes []string) (n int64, err error) {
	w := sqlFragment{}
	if text, args := actionsLike(&loyalty.FeedQuery{Actions: actions, Prefixes: prefixes}); text != "" {
		w = w.and(text, args...)
	}

	if r.Numbered() {
		err = s.consistent(ctx, func(db *gorm.DB) (err error) {
			n, err = countNumbered(db, r, w)
			return err
		})
		return n, err
	}

	w = w.and("e.recorded_at >= ?", Millis(r.From)).and("e.recorded_at < ?", Millis(r.To))
	if r.Customer != (loyalty.ID{}) {
		of := theirs("e.customer_id", holder(r.Customer, ""))
		w = w.and(of.text, of.args...)
	}

	return n, s.asks(ctx, sqlFragment{"SELECT count(*) FROM events e" + w.where(), w.args}.one((*number)(&n)))
}

// countNumbered counts the events of a replay's numbers.
func countNumbered(db *gorm.DB, r *loyalty.Replay, w sqlFragment) (n int64, err error) {
	if r.Customer != (loyalty.ID{}) {
		var ids []UUID
		if err := db.Raw("SELECT id FROM customers WHERE id = ?"+orMerged+"?", UUID(r.Customer), UUID(r.Customer)).Scan(&ids).Error; err != nil {
			return 0, err
		}
		w = w.and("e.customer_id IN ?", ids)
	}

	if db.Name() == "citus" {
		return countSpread(db, r, w)
	}

	span, err := spanOf(db, r.Position, r.Until)
	if err != nil {
		return 0, err
	}

	events := span.behind(db)
	w = w.and("t.number > ?", r.Position).and("t.number <= ?", r.Until)
	return n, db.Raw("SELECT count(*) FROM tail t "+events.text+w.where(), append(events.args, w.args...)...).Row().Scan(&n)
}
