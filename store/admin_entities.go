package store

import (
	"context"
	"encoding/json"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Entity finds one by type and id, archived or not; false: there is none.
func (s *Store) Entity(ctx context.Context, kind, id string) (loyalty.Entity, bool, error) {
	e, found, err := entity(s.read.WithContext(ctx), kind, id)
	return e, found, s.fault(err)
}

// Entities lists those of one type by creation, the oldest first, then id. Their
// ids are text, so pages go by offset.
func (s *Store) Entities(ctx context.Context, q loyalty.EntityQuery) ([]loyalty.Entity, error) {
	db := s.read.WithContext(ctx).Where("type = ?", storable(q.Type))
	if !q.Archived {
		db = db.Where("archived_at IS NULL")
	}
	if q.Page.Limit > 0 {
		db = db.Limit(q.Page.Limit)
	}
	var rows []entityRow
	err := db.Order("created_at, id").Offset(q.Page.Offset).Find(&rows).Error
	return entitiesOf(rows), s.fault(err)
}

// Entity finds one inside the transaction; see loyalty.AdminTx.
func (t *adminTx) Entity(kind, id string) (loyalty.Entity, bool, error) {
	e, found, err := entity(t.db, kind, id)
	return e, found, t.s.fault(err)
}

// SaveEntity writes one; when it was created stays as it was written first.
func (t *adminTx) SaveEntity(e loyalty.Entity) error {
	row := entityRow{
		Type: e.Type, ID: e.ID, Data: Raw(e.Data),
		CreatedAt: Millis(e.CreatedAt), UpdatedAt: Millis(e.UpdatedAt), ArchivedAt: Millis(e.ArchivedAt),
	}
	changing := clause.AssignmentColumns([]string{"data", "updated_at", "archived_at"})
	key := []clause.Column{{Name: "type"}, {Name: "id"}}
	return t.grow(t.db.Clauses(clause.OnConflict{Columns: key, DoUpdates: changing}).Create(&row).Error)
}

func entity(db *gorm.DB, kind, id string) (loyalty.Entity, bool, error) {
	var rows []entityRow
	err := db.Where("type = ? AND id = ?", storable(kind), storable(id)).Limit(1).Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return loyalty.Entity{}, false, err
	}
	return entitiesOf(rows)[0], true, nil
}

func entitiesOf(rows []entityRow) []loyalty.Entity {
	list := make([]loyalty.Entity, len(rows))
	for i, r := range rows {
		list[i] = loyalty.Entity{
			Type: r.Type, ID: r.ID, Data: json.RawMessage(r.Data),
			CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time(), ArchivedAt: r.ArchivedAt.Time(),
		}
	}
	return list
}
