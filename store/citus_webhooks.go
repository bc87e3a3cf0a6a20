package store

import "github.com/loyalty-platform/loyalty/server/loyalty"

// heldOnCitus is Held where the keys of customers are on other machines, and deliveries on the
// coordinator: they are read after it is known whose they are.
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
