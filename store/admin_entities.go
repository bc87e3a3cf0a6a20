package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// Entity finds an entity by type and id, archived or not; false if there is none.
func (s adminStore) Entity(ctx context.Context, kind, id string) (loyalty.Entity, bool, error) {
	e, found, err := entity(s.read.WithContext(ctx), kind, id)
	return e, found, s.fault(err)
}

// entityColumns are the fields of an entity that can be filtered.
var entityColumns = map[string]filterColumn{
	"id":         {expression: "id"},
	"created_at": {expression: "created_at"},
	"updated_at": {expression: "updated_at"},
}

// entityOrders are the orders of lists of entities; the id decides between equals.
var entityOrders = map[string]string{
	"": "created_at", loyalty.SortCreated: "created_at", loyalty.SortUpdated: "updated_at", loyalty.SortID: "id",
}

// Entities lists the entities of one type. It fails for a field or an order that the caller should have refused.
func (s adminStore) Entities(ctx context.Context, q loyalty.EntityQuery) ([]loyalty.Entity, error) {
	return s.entities(s.read.WithContext(ctx), q)
}

// Entities lists entities inside the transaction; see loyalty.AdminTx.
func (t *adminTx) Entities(q loyalty.EntityQuery) ([]loyalty.Entity, error) {
	return t.s.entities(t.db, q)
}

func (s adminStore) entities(db *gorm.DB, q loyalty.EntityQuery) ([]loyalty.Entity, error) {
	where, err := sqlFragment{}.and("type = ?", cleanText(q.Type)).andAll(entityColumns, q.Conditions)
	if err != nil {
		return nil, err
	}
	if !q.Archived {
		where = where.and("archived_at IS NULL")
	}

	by, known := entityOrders[q.Sort]
	if !known {
		return nil, fmt.Errorf("entities cannot be sorted by %q", q.Sort)
	}

	list := &unionQuery{
		table: "entities", columns: "*", branches: []branch{{where, by}}, order: listOrder{at: by, id: "id", descending: q.Descending},
		page: pager{limit: q.Page.Limit, offset: q.Page.Offset, after: entityPlace(q.After), before: entityPlace(q.Before)},
	}

	whole := list.page.limit <= 0
	if whole {
		list.page.limit = math.MaxInt32
	}

	text, backwards := list.sql()
	var rows []entityRow
	if db = db.Raw(text.text, text.args...); whole {
		err = db.Scan(&rows).Error
	} else {
		rows, err = readPage[entityRow](db)
	}

	return entitiesOf(inOrder(rows, backwards)), s.fault(err)
}

func entityPlace(p *loyalty.EntityPlace) *place {
	if p == nil {
		return nil
	}
	return &place{Millis(p.At), cleanText(p.ID)}
}

// Entity finds an entity inside the transaction; see loyalty.AdminTx.
func (t *adminTx) Entity(kind, id string) (loyalty.Entity, bool, error) {
	e, found, err := entity(t.db, kind, id)
	return e, found, t.s.fault(err)
}

// SaveEntity writes an entity; the creation time stays as first written.
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
	err := db.Where("type = ? AND id = ?", cleanText(kind), cleanText(id)).Limit(1).Find(&rows).Error
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
