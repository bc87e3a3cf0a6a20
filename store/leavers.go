package store

import "github.com/loyalty-platform/loyalty/server/loyalty"

// leaverID binds the name of a customer who left to the customer.
func leaverID(customer UUID) []byte { return rowID("leavers", string(customer[:])) }

type leaverRow struct {
	CustomerID UUID `gorm:"primaryKey"`
	Sealed     []byte
	At         Millis
}

func (leaverRow) TableName() string { return "leavers" }

// insertLeavers stores the names of customers who leave, for webhooks only: without a webhook that must be told,
// nothing is stored.
var insertLeavers = inserts(`INSERT INTO leavers (customer_id, sealed, at) SELECT v.customer_id, v.sealed, v.at FROM v
WHERE EXISTS (SELECT 1 FROM webhooks w WHERE `+listening+`) ON CONFLICT (customer_id) DO NOTHING`,
	field[leaverRow]{"customer_id", "uuid", func(r *leaverRow) any { return &r.CustomerID }},
	field[leaverRow]{"sealed", "bytea", func(r *leaverRow) any { return (*blob)(&r.Sealed) }},
	field[leaverRow]{"at", "bigint", func(r *leaverRow) any { return &r.At }})

// leaversOf lists the customers who leave with a batch.
func leaversOf(w *loyalty.Writes, key sealer) (rows []leaverRow) {
	for i := range w.Customers {
		c := &w.Customers[i]
		if c.After.Status == loyalty.OptedOut && c.Before.Status != loyalty.OptedOut && c.Before.Name != "" && c.Before.Name != c.After.Name {
			id := UUID(c.After.ID)
			rows = append(rows, leaverRow{id, key.seal(leaverID(id), []byte(c.Before.Name)), Millis(c.After.UpdatedAt)})
		}
	}
	return rows
}
