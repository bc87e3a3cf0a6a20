package store

import (
	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// customerKeys opens the keys of customers; those of customers who left are gone.
func (s *database) customerKeys(db *gorm.DB, customers []UUID) (map[loyalty.ID][]byte, error) {
	keys := make(map[loyalty.ID][]byte, len(customers))
	if len(customers) == 0 {
		return keys, nil
	}
	var rows []customerKeyRow
	if err := among(db, "customer_id", customers).Find(&rows).Error; err != nil {
		return nil, err
	}
	for _, r := range rows {
		key, err := s.sealer.open(rowID("customer_keys", string(r.CustomerID[:])), r.Sealed)
		if err != nil {
			return nil, err
		}
		keys[loyalty.ID(r.CustomerID)] = key
	}
	return keys, nil
}
