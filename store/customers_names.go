package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// CustomerNames gives what customers are called, of merged ones who they became;
// those who left are not among them.
func (s customerStore) CustomerNames(ctx context.Context, ids []loyalty.ID) (map[loyalty.ID]string, error) {
	keys := make([]UUID, len(ids))
	for i, id := range ids {
		keys[i] = UUID(id)
	}
	found, err := namesOf(s.read.WithContext(ctx), keys)
	names := make(map[loyalty.ID]string, len(found))
	for id, name := range found {
		names[loyalty.ID(id)] = name
	}
	return names, s.fault(err)
}

// namesOf is CustomerNames inside a transaction.
func namesOf(db *gorm.DB, ids []UUID) (map[UUID]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var rows []struct {
		ID   UUID
		Name string
	}
	err := db.Table("customers AS c").Select("c.id, COALESCE(s.name, c.name) AS name").Joins("LEFT JOIN customers s ON s.id = c.merged_into").
		Where("c.id IN ? AND COALESCE(s.status, c.status) <> ?", ids, loyalty.OptedOut).Scan(&rows).Error
	names := make(map[UUID]string, len(rows))
	for _, r := range rows {
		names[r.ID] = r.Name
	}
	return names, err
}
