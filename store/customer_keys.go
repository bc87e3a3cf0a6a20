package store

import (
	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// keysRead decrypts the keys of customers. Customers who left have none.
type keysRead struct {
	sealer    sealer
	customers []UUID
	keys      map[loyalty.ID][]byte
	failed    error
}

// keysOf reads the keys of customers into a map.
func (s *database) keysOf(customers []UUID, keys map[loyalty.ID][]byte) *keysRead {
	return &keysRead{sealer: s.sealer, customers: customers, keys: keys}
}

// questions read the keys; none if there are no customers.
func (r *keysRead) questions() []question {
	if len(r.customers) == 0 {
		return nil
	}
	return []question{r.where(sqlFragment{"customer_id IN ?", []any{r.customers}})}
}

// where reads the keys that meet a condition.
func (r *keysRead) where(w sqlFragment) question {
	var row customerKeyRow
	return sqlFragment{"SELECT customer_id, sealed FROM customer_keys WHERE " + w.text, w.args}.reads(func() bool {
		key, err := r.sealer.open(rowID("customer_keys", string(row.CustomerID[:])), row.Sealed)
		if err != nil {
			r.failed = err
			return true
		}
		r.keys[loyalty.ID(row.CustomerID)] = key
		return false
	}, &row.CustomerID, (*blob)(&row.Sealed))
}
