package store

import (
	"encoding/json"
	"fmt"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
	"github.com/loyalty-platform/loyalty/server/loyalty/points"
)

// holdsPage is how many customers are read together, which limits memory.
const holdsPage = 1000

// holdsMatch compares, for each customer and each lot, the points that reservations and pending purchases hold with
// the reserved points. The holds are documents, so the program does this itself, a page of customers at a time.
func holdsMatch(db *gorm.DB, found func(LedgerFinding)) error {
	var after UUID

	for {
		page, err := balanceTable.some("customer_id", "reserved").find(between(db, after, UUID{}).Order("customer_id").Limit(holdsPage))
		if err != nil || len(page) == 0 {
			return err
		}
		last := UUID(page[len(page)-1].ID)
		h := holds{found: found, held: map[lotKey]int64{}, lots: map[lotKey]int64{}}
		if err := h.load(db, after, last); err != nil {
			return err
		}
		h.compare(page)
		after = last
	}
}

// between limits a query to customers after one and up to another; a zero id is no limit.
func between(db *gorm.DB, after, last UUID) *gorm.DB {
	if after != (UUID{}) {
		db = db.Where("customer_id > ?", after)
	}
	if last != (UUID{}) {
		db = db.Where("customer_id <= ?", last)
	}
	return db
}

// heldBy reads the documents of a page of customers and of those merged into them, whose points are the customer's
// now. Merged customers are on no page.
func heldBy(db *gorm.DB, after, last UUID, table, document string) *gorm.DB {
	on := "c.merged_into IS NULL AND c.id <= ? OR c.merged_into <= ?"
	values := []any{last, last}
	if after != (UUID{}) {
		on = "c.merged_into IS NULL AND c.id > ? AND c.id <= ? OR c.merged_into > ? AND c.merged_into <= ?"
		values = []any{after, last, after, last}
	}
	return db.Table("customers c").Select("COALESCE(c.merged_into, c.id), r.transaction_id, "+document).
		Joins("JOIN "+table+" r ON r.customer_id = c.id").Where("("+on+")", values...)
}

// lotKey is a lot of a customer.
type lotKey struct{ customer, lot UUID }

// holds compares a page of customers.
type holds struct {
	found func(LedgerFinding)
	held  map[lotKey]int64 // by reservations and pending purchases
	lots  map[lotKey]int64 // reserved in the lots
}

func (h *holds) load(db *gorm.DB, after, last UUID) error {
	lots, err := lotTable.some("customer_id", "id", "reserved").find(between(db, after, last).Where("reserved <> 0"))
	if err != nil {
		return err
	}

	for _, l := range lots {
		h.lots[lotKey{UUID(l.Customer), UUID(l.ID)}] = l.Reserved
	}

	reservations := heldBy(db, after, last, "reservations", "r.hold").Where("r.hold IS NOT NULL")
	err = h.documents(reservations, func(text []byte) (hold []points.Portion, err error) {
		err = json.Unmarshal(text, &hold)
		return hold, err
	})
	if err != nil {
		return err
	}

	pending := heldBy(db, after, last, "transactions", "r.detail").Where("r.state = ?", loyalty.Pending)
	return h.documents(pending, func(text []byte) ([]points.Portion, error) {
		var detail struct {
			Burn []points.Portion `json:"burn"`
		}
		err := json.Unmarshal(text, &detail)
		return detail.Burn, err
	})
}

// documents adds the holds of documents. Rows are customer, name and document.
func (h *holds) documents(db *gorm.DB, read func([]byte) ([]points.Portion, error)) error {
	rows, err := db.Rows()
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error

	for rows.Next() {
		var customer UUID
		var name, text Text
		if err := rows.Scan(&customer, &name, &text); err != nil {
			return err
		}
		if text == "" {
			continue
		}

		portions, err := read([]byte(text))
		if err != nil {
			h.found(LedgerFinding{Customer: loyalty.ID(customer), Row: string(name), Detail: "what is held cannot be read: " + err.Error()})
		}

		for _, p := range portions {
			h.held[lotKey{customer, UUID(p.Lot)}] += p.Points
		}
	}

	return rows.Err()
}

// compare checks the page in the order of customers.
func (h *holds) compare(page []loyalty.Customer) {
	byCustomer := map[UUID][]lotKey{}
	total := map[UUID]int64{}
	for k, n := range h.held {
		byCustomer[k.customer] = append(byCustomer[k.customer], k)
		total[k.customer] += n
	}

	for k := range h.lots {
		if _, both := h.held[k]; !both {
			byCustomer[k.customer] = append(byCustomer[k.customer], k)
		}
	}

	for _, c := range page {
		id, reserved := UUID(c.ID), c.Figures.Reserved
		if total[id] != reserved {
			h.found(LedgerFinding{Customer: c.ID, Detail: fmt.Sprintf("reserved and holds differ; reserved is %d, should be %d", reserved, total[id])})
		}
		for _, k := range byCustomer[id] {
			if h.lots[k] != h.held[k] {
				h.found(LedgerFinding{
					Customer: c.ID, Row: loyalty.ID(k.lot).String(),
					Detail: fmt.Sprintf("lot and holds differ; reserved is %d, should be %d", h.lots[k], h.held[k]),
				})
			}
		}
	}
}
