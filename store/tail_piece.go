package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/pressly/goose/v3"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// How many events one transaction numbers: on SQLite it blocks all other writes, on PostgreSQL only other numbering.
// Events that no process noted are searched again for each piece, among all customers of a page.
const (
	tailPiece     = 500
	postgresPiece = 2000
)

// arrears are a customer's events to be numbered: those after one, up to another.
type arrears struct{ customer, after, to loyalty.ID }

// headMove is the new head of the tail, and the previous one.
type headMove struct{ head, was int64 }

// coming is a customer's new last event in the tail, and the previous one.
type coming struct{ customer, through, before loyalty.ID }

var comingFields = []field[coming]{
	{"customer_id", "uuid", func(c *coming) any { return (*UUID)(&c.customer) }},
	{"through", "uuid", func(c *coming) any { return (*UUID)(&c.through) }},
}

var (
	lockHead = selects(`SELECT s.head, s.present FROM v JOIN tail_state s ON s.id = v.id FOR UPDATE OF s`,
		field[int64]{"id", "smallint", func(id *int64) any { return (*number)(id) }}).
		onSQLite(`SELECT s.head, s.present FROM v JOIN tail_state s ON s.id = v.id`)
	selectNumbered = selects(`SELECT w.customer_id, w.through FROM v JOIN numbered w ON w.customer_id = v.customer_id`,
		field[loyalty.ID]{"customer_id", "uuid", func(id *loyalty.ID) any { return (*UUID)(id) }})
	// both ends come as values: if the lower one came from numbered, PostgreSQL would read the customer's whole
	// journal and discard the numbered events; on SQLite the limit applies to each customer
	selectUnnumbered = selects(unnumberedUpTo(postgresPiece),
		field[arrears]{"customer_id", "uuid", func(r *arrears) any { return (*UUID)(&r.customer) }},
		field[arrears]{"after", "uuid", func(r *arrears) any { return (*UUID)(&r.after) }},
		field[arrears]{"most", "uuid", func(r *arrears) any { return (*UUID)(&r.to) }}).onSQLite(unnumberedUpTo(tailPiece))
	insertTail     = tailTable.inserts()
	upsertNumbered = inserts(`INSERT INTO numbered (customer_id, through) SELECT v.customer_id, v.through FROM v WHERE true
ON CONFLICT (customer_id) DO UPDATE SET through = excluded.through`, comingFields...)
	advanceNumbered = guards(`UPDATE numbered AS w SET through = v.through FROM v WHERE w.customer_id = v.customer_id AND w.through = v.before`,
		append(comingFields, field[coming]{"before", "uuid", func(c *coming) any { return (*UUID)(&c.before) }})...)
	addNumbered    = inserts(`INSERT INTO numbered (customer_id, through) SELECT v.customer_id, v.through FROM v`, comingFields...)
	insertNumbered = guards(`INSERT INTO numbered (customer_id, through) SELECT v.customer_id, v.through FROM v WHERE true ON CONFLICT (customer_id) DO NOTHING`,
		comingFields...)
	moveHead = guards(`UPDATE tail_state AS s SET head = v.head FROM v WHERE s.id = v.id AND s.head = v.was`,
		field[headMove]{"id", "smallint", func(*headMove) any { return number(1) }},
		field[headMove]{"head", "bigint", func(m *headMove) any { return (*number)(&m.head) }},
		field[headMove]{"was", "bigint", func(m *headMove) any { return (*number)(&m.was) }})
)

func unnumberedUpTo(piece int) string {
	return fmt.Sprintf(`SELECT e.customer_id, e.id, e.recorded_at FROM v
JOIN events e ON e.customer_id = v.customer_id AND e.id > v.after AND e.id <= v.most ORDER BY e.id, e.customer_id LIMIT %d`, piece)
}

// numbering is one transaction that gives numbers. A damaged database is not written.
func (s tailStore) numbering(ctx context.Context, body func(step) error) error {
	if s.broken() {
		return loyalty.ErrDamaged
	}
	return s.noteSpace(s.engine.numbering(ctx, body))
}

// piece is a part of the tail that is written in one transaction.
type piece struct {
	head    int64
	present bool
	through map[loyalty.ID]loyalty.ID // by customer: their last event in the tail
	before  map[loyalty.ID]loyalty.ID // by customer: the same when the head was locked
	events  []loyalty.TailEvent
}

// add gives an event the next number.
func (p *piece) add(e loyalty.TailEvent) {
	e.Number = p.head + int64(len(p.events)) + 1
	p.events, p.through[e.Customer] = append(p.events, e), e.ID
}

// piece writes the events that choose adds, of the customers of the given events. It holds the lock on the head until
// the commit, so that a lower number never becomes visible after a higher one; reads after the lock see what others
// numbered before.
func (s tailStore) piece(ctx context.Context, events []fresh, choose func(*piece)) error {
	var customers []loyalty.ID
	seen := set[loyalty.ID]{}
	for i := range events {
		if seen.add(events[i].Customer) {
			customers = append(customers, events[i].Customer)
		}
	}

	return s.numbering(ctx, func(step step) error {
		p, err := begun(step, customers)
		if err != nil {
			return err
		}
		choose(p)
		return s.writePiece(p, step)
	})
}

// begun locks the head and reads the customers' last events in the tail.
func begun(step step, customers []loyalty.ID) (*piece, error) {
	p := &piece{through: make(map[loyalty.ID]loyalty.ID, len(customers)), before: make(map[loyalty.ID]loyalty.ID, len(customers))}
	var c coming
	err := step(read(p.lock(), selectNumbered, customers, []any{(*UUID)(&c.customer), (*UUID)(&c.through)}, func() error {
		p.through[c.customer], p.before[c.customer] = c.through, c.through
		return nil
	}))
	return p, err
}

// number numbers customers' events after their last one in the tail, in the order of ids, a piece at a time.
func (s tailStore) number(ctx context.Context, customers []arrears) error {
	most := postgresPiece
	if s.dialect() == goose.DialectSQLite3 {
		most = tailPiece
	}

	ids := make([]loyalty.ID, len(customers))
	for i := range customers {
		ids[i] = customers[i].customer
	}

	for more := len(customers) > 0; more; {
		err := s.numbering(ctx, func(step step) error {
			p, err := begun(step, ids)
			if err != nil {
				return err
			}

			for i := range customers {
				// Without events in the tail it is NULL.
				customers[i].after = cmp.Or(p.through[customers[i].customer], loyalty.ID(firstID))
			}

			var e loyalty.TailEvent
			var found []loyalty.TailEvent
			err = step(read(nil, selectUnnumbered, customers, []any{(*UUID)(&e.Customer), (*UUID)(&e.ID), (*Millis)(&e.RecordedAt)}, func() error {
				found = append(found, e)
				return nil
			}))
			if err != nil {
				return err
			}

			slices.SortFunc(found, func(a, b loyalty.TailEvent) int { return byEventID(&a, &b) })
			more = len(found) >= most
			for _, e := range found[:min(len(found), most)] {
				p.add(e)
			}

			return s.writePiece(p, step)
		})
		if err != nil {
			return err
		}
	}

	return nil
}

func (p *piece) lock() []calls {
	return read(nil, lockHead, []int64{1}, []any{(*number)(&p.head), (*flag)(&p.present)}, func() error { return nil })
}

func (s tailStore) writePiece(p *piece, step step) error {
	if len(p.events) == 0 {
		return nil
	}

	var moved, known, made []coming
	seen := set[loyalty.ID]{}
	for i := range p.events {
		e := &p.events[i]
		if !seen.add(e.Customer) {
			continue
		}
		c := coming{customer: e.Customer, through: p.through[e.Customer], before: p.before[e.Customer]}
		moved = append(moved, c)
		if c.before == (loyalty.ID{}) {
			made = append(made, c)
		} else {
			known = append(known, c)
		}
	}

	if _, spread := s.engine.(*citusEngine); spread {
		// On Citus each row of an upsert would be a statement of its own. Under the lock of the head nothing else
		// changes these rows.
		return s.writeNumbers(p, step, write(write(nil, advanceNumbered, known), addNumbered, made))
	}

	return s.writeNumbers(p, step, write(nil, upsertNumbered, moved))
}

// writeNumbers writes a piece, and the last events of its customers.
func (s tailStore) writeNumbers(p *piece, step step, list []calls) error {
	list = write(list, insertTail, p.events)
	list = write(list, moveHead, []headMove{{p.head + int64(len(p.events)), p.head}})
	err := step(list)
	if err == nil {
		s.passes(TailWritten)
	}
	return err
}

// next numbers events that each directly follow their customer's last one in the tail. It does not read that one: the
// write itself is conditional. If another node wrote or numbered in between, it fails with ErrBatchConflict and
// writes nothing.
func (s tailStore) next(ctx context.Context, events []fresh) error {
	known, made, ok := comings(events)
	if !ok {
		return loyalty.ErrBatchConflict
	}

	return s.numbering(ctx, func(step step) error {
		p := &piece{events: make([]loyalty.TailEvent, 0, len(events))}
		if err := step(p.lock()); err != nil {
			return err
		}
		for i := range events {
			e := events[i].TailEvent
			e.Number = p.head + int64(i) + 1
			p.events = append(p.events, e)
		}
		return s.writeNumbers(p, step, write(write(nil, advanceNumbered, known), insertNumbered, made))
	})
}

// comings computes the customers' new last events: known for customers with events in the tail, made for the others.
// ok is false if an event of another node comes between two of a customer's.
func comings(events []fresh) (known, made []coming, ok bool) {
	at := make(map[loyalty.ID]*coming, len(events))
	known = make([]coming, 0, len(events)) // never grown, so that pointers into it stay valid
	made = make([]coming, 0, len(events))
	for i := range events {
		e := &events[i]
		switch c := at[e.Customer]; {
		case c != nil && c.through != e.before:
			return nil, nil, false
		case c != nil:
			c.through = e.ID
		case e.before == loyalty.ID{}:
			made = append(made, coming{customer: e.Customer, through: e.ID})
			at[e.Customer] = &made[len(made)-1]
		default:
			known = append(known, coming{customer: e.Customer, through: e.ID, before: e.before})
			at[e.Customer] = &known[len(known)-1]
		}
	}

	return known, made, true
}
