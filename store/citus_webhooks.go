package store

import (
	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// heldOnCitus is Held where the customers' keys are on other machines and deliveries on the coordinator: it reads the
// keys after the customers are known.
func (t *webhookTx) heldOnCitus(owner loyalty.ID, numbers []int64) (map[int64]bool, error) {
	var rows []heldRow
	err := t.db.Raw(`SELECT d.number, d.customer_id, (SELECT max(a.n) FROM attempts a WHERE a.webhook_id = d.webhook_id AND a.number = d.number) AS last
FROM deliveries d WHERE d.webhook_id = ? AND d.number IN ? AND d.owner = ? AND d.state = 'waiting'`, UUID(t.webhook.ID), numbers, UUID(owner)).Scan(&rows).Error
	if err != nil {
		return nil, err
	}

	var ids []UUID
	for i := range rows {
		if rows[i].CustomerID != (UUID{}) {
			ids = also(ids, loyalty.ID(rows[i].CustomerID))
		}
	}

	if len(ids) == 0 {
		return t.hold(rows), nil
	}

	var keys []customerKeyRow
	if err := t.db.Where("customer_id IN ?", ids).Find(&keys).Error; err != nil {
		return nil, err
	}

	sealed := make(map[UUID][]byte, len(keys))
	for _, k := range keys {
		sealed[k.CustomerID] = k.Sealed
	}

	for i := range rows {
		rows[i].Sealed = sealed[rows[i].CustomerID]
	}

	return t.hold(rows), nil
}

// countSpread is countNumbered where events are on other machines than the tail: it reads them in pieces of the tail.
func countSpread(db *gorm.DB, r *loyalty.Replay, w sqlFragment) (n int64, err error) {
	for after := r.Position; ; {
		stretch, err := tailTable.find(db.Where("number > ? AND number <= ?", after, r.Until).Order("number").Limit(10 * feedAtOnce))
		if err != nil || len(stretch) == 0 {
			return n, err
		}
		if err := spreadFeed(db, w, stretch, func(*loyalty.Event, int64) bool { n++; return false }); err != nil {
			return n, err
		}
		after = stretch[len(stretch)-1].Number
	}
}
