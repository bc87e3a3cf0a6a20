package store

import (
	"maps"
	"slices"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// loadSpread is load where the tail is on the coordinator and the numbered rows are on other machines: it asks for
// those rows by the ids of the tail.
func (p *figurePiece) loadSpread() error {
	stretch, err := tailTable.find(p.db.Where("number > ? AND number <= ?", p.from, p.through).Order("number"))
	if err != nil {
		return err
	}
	if err := p.spreadEvents(stretch); err != nil {
		return err
	}

	for some := range slices.Chunk(p.Events, feedAtOnce) {
		if err := p.spreadMoves(some); err != nil {
			return err
		}
		if err := p.spreadJoined(some); err != nil {
			return err
		}
	}

	return p.bought()
}

func (p *figurePiece) spreadEvents(stretch []loyalty.TailEvent) error {
	size := 0
	through := p.from
	err := spreadEvents(p.db, figuredFields, figuredText, sqlFragment{}, stretch, func(e *loyalty.Event, number int64) bool {
		p.Events, through = append(p.Events, loyalty.FiguredEvent{Event: *e}), number
		size += loyalty.Weight(e)
		return size > maxRead
	})
	p.through = through
	return err
}

// spreadMoves is moves for a part of the events.
func (p *figurePiece) spreadMoves(some []loyalty.FiguredEvent) error {
	wanted, places := make(ownEvents, len(some)), make(map[ownEvent]*loyalty.FiguredEvent, len(some))
	for i := range some {
		wanted[i] = ownEvent{UUID(some[i].Customer), UUID(some[i].ID)}
		places[wanted[i]] = &some[i]
	}

	customers, ids := wanted.columns()
	rows, err := p.db.Raw(`SELECT p.customer_id, p.event_id, p.from_account, p.to_account, CAST(SUM(p.points) AS bigint) FROM postings p
WHERE p.customer_id IN ? AND p.event_id IN ? GROUP BY p.customer_id, p.event_id, p.from_account, p.to_account`, customers, ids).Rows()
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error

	for rows.Next() {
		var of ownEvent
		var from, to, n int64
		if err := rows.Scan(&of.customer, &of.id, &from, &to, &n); err != nil {
			return err
		}
		if e := places[of]; e != nil {
			e.Moves = append(e.Moves, loyalty.PointMove{From: points.Account(from), To: points.Account(to), Points: n}) //nolint:gosec // there are eight
		}
	}

	return rows.Err()
}

// spreadJoined is joined for a part of the events.
func (p *figurePiece) spreadJoined(some []loyalty.FiguredEvent) error {
	ids := set[UUID]{}
	for i := range some {
		ids.add(UUID(some[i].Customer))
	}

	var rows []struct {
		ID        UUID
		CreatedAt Millis
	}

	if err := p.db.Raw(`SELECT id, created_at FROM customers WHERE id IN ?`, slices.Collect(maps.Keys(ids))).Scan(&rows).Error; err != nil {
		return err
	}

	joined := make(map[loyalty.ID]time.Time, len(rows))
	for _, r := range rows {
		joined[loyalty.ID(r.ID)] = r.CreatedAt.Time()
	}

	for i := range some {
		some[i].Joined = joined[some[i].Customer]
	}

	return nil
}

// ownersOf are the owners of purchases with the given names. It is separate, because names are stored by their own
// key, and purchases by their owner.
func (p *figurePiece) ownersOf(names []string) (owners []UUID, err error) {
	return owners, p.db.Raw(`SELECT DISTINCT n.owner FROM names n WHERE n.kind = ? AND n.value IN ?`, loyalty.NameTransaction, names).Scan(&owners).Error
}
