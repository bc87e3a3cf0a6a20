package store

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/money"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// figurePiece reads a part of the tail with the data that figures need.
type figurePiece struct {
	loyalty.FigurePiece
	db            *gorm.DB
	from, through int64 // numbers: after from, up to through
}

// refundRow is how much of a purchase was counted as refunded.
type refundRow struct {
	TransactionID string `gorm:"primaryKey"`
	Refunded      int64
}

func (refundRow) TableName() string { return "figure_refunds" }

// inPiece is the condition that t is in the piece.
const inPiece = ` WHERE t.number > ? AND t.number <= ?`

func (p *figurePiece) load() error {
	if p.db.Name() == "citus" {
		return p.loadSpread()
	}
	for _, read := range []func() error{p.events, p.moves, p.joined, p.bought} {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

var (
	figuredFields = eventTable.some("customer_id", "id", "at", "parent", "action", "transaction_id", "data", "effects")
	figuredText   = "SELECT " + figuredFields.of("e", "data", "CASE WHEN e.action = 'checkout' OR e.action = 'point_add' AND e.parent IS NOT NULL THEN e.data END AS data")
)

// events reads the events, up to the one that exceeds the limit of bytes.
func (p *figurePiece) events() error {
	span, err := spanOf(p.db, p.from, p.through)
	if err != nil {
		return err
	}

	behind := span.behind(p.db)
	text := figuredText + ", t.number FROM tail t " + behind.text + inPiece + " ORDER BY t.number"
	var number int64
	size := 0
	through := p.from
	err = figuredFields.each(p.db.Raw(text, append(behind.args, p.from, p.through)...), func(e *loyalty.Event) bool {
		p.Events, through = append(p.Events, loyalty.FiguredEvent{Event: *e}), number
		size += loyalty.Weight(e)
		return size > maxRead
	}, &number)

	p.through = through
	return err
}

// at is the index of an event by its number, because the numbers have no gaps.
func (p *figurePiece) at(number int64) *loyalty.FiguredEvent { return &p.Events[number-p.from-1] }

// moves reads how the events moved points.
func (p *figurePiece) moves() error {
	return p.each(`SELECT t.number, p.from_account, p.to_account, CAST(SUM(p.points) AS bigint)
FROM tail t JOIN postings p ON p.customer_id = t.customer_id AND p.event_id = t.event_id`+inPiece+`
GROUP BY t.number, p.from_account, p.to_account`, func(row []int64) {
		e := p.at(row[0])
		e.Moves = append(e.Moves, loyalty.PointMove{From: points.Account(row[1]), To: points.Account(row[2]), Points: row[3]}) //nolint:gosec // there are eight
	}, 4)
}

// joined reads the creation times of the events' profiles, each once: a purchase is several events of one customer.
func (p *figurePiece) joined() error {
	rows, err := p.db.Raw(`SELECT c.id, c.created_at FROM customers c WHERE c.id IN (SELECT DISTINCT t.customer_id FROM tail t`+inPiece+`)`,
		p.from, p.through).Rows()
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error

	made := map[loyalty.ID]time.Time{}
	for rows.Next() {
		var id UUID
		var at Millis
		if err := rows.Scan(&id, &at); err != nil {
			return err
		}
		made[loyalty.ID(id)] = at.Time()
	}

	for i := range p.Events {
		p.Events[i].Joined = made[p.Events[i].Customer]
	}

	return rows.Err()
}

// each reads rows of integers.
func (p *figurePiece) each(text string, take func([]int64), columns int) error {
	rows, err := p.db.Raw(text, p.from, p.through).Rows()
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error

	row, into := make([]int64, columns), make([]any, columns)
	for i := range row {
		into[i] = &row[i]
	}

	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		take(row)
	}

	return rows.Err()
}

// bought reads the purchases that events accepted later or refunded, and what was refunded of them before.
func (p *figurePiece) bought() error {
	names := set[string]{}
	for i := range p.Events {
		e := &p.Events[i]
		if e.Effects == nil {
			continue
		}
		if t := e.Effects.Transaction; t != nil && (t.Refunded > 0 || t.State == loyalty.Accepted && e.Action != "checkout") {
			names.add(e.Transaction)
		}
		for _, t := range e.Effects.Purchases {
			if t.Refunded > 0 || t.State == loyalty.Accepted {
				names.add(t.Name)
			}
		}
	}

	p.Purchases, p.Refunded = map[string]loyalty.FiguredPurchase{}, map[string]money.Parts{}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(names)), figuresAtOnce) {
		if err := p.purchases(some); err != nil {
			return err
		}
		var refunds []refundRow
		if err := p.db.Where("transaction_id IN ?", some).Find(&refunds).Error; err != nil {
			return err
		}
		for _, r := range refunds {
			p.Refunded[r.TransactionID] = money.Parts(r.Refunded)
		}
	}

	return nil
}

// purchases reads purchases by their names, whichever customer owns them now.
func (p *figurePiece) purchases(names []string) error {
	var rows []struct {
		TransactionID string
		Checkout      UUID
		Detail        Document[struct {
			Attributes map[string]json.RawMessage `json:"attributes"`
		}]
	}

	question := p.db.Raw(`SELECT x.transaction_id, x.checkout, x.detail FROM names n JOIN transactions x ON x.customer_id = n.owner AND x.transaction_id = n.value
WHERE n.kind = ? AND n.value IN ?`, loyalty.NameTransaction, names)
	if p.db.Name() == "citus" {
		owners, err := p.ownersOf(names)
		if err != nil || len(owners) == 0 {
			return err
		}
		question = p.db.Raw(`SELECT x.transaction_id, x.checkout, x.detail FROM transactions x WHERE x.customer_id IN ? AND x.transaction_id IN ?`, owners, names)
	}

	err := question.Scan(&rows).Error
	for _, r := range rows {
		of := r.Detail.V.Attributes
		p.Purchases[r.TransactionID] = loyalty.FiguredPurchase{
			Checkout: loyalty.ID(r.Checkout), Store: loyalty.TextOf(of["store"]), Channel: loyalty.TextOf(of["channel"]), Currency: loyalty.TextOf(of["currency"]),
		}
	}

	return err
}

// keepRefunded stores what the fold counted as refunded.
func (p *figurePiece) keepRefunded(db *gorm.DB) error {
	rows := make([]refundRow, 0, len(p.Refunded))
	for name, n := range p.Refunded {
		rows = append(rows, refundRow{name, int64(n)})
	}
	return create(db.Clauses(clause.OnConflict{UpdateAll: true}), rows)
}
