package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// bulkStore keeps operations on many customers or codes.
type bulkStore struct{ *database }

// bulkRow is a bulk operation.
type bulkRow struct {
	ID                  UUID `gorm:"primaryKey"`
	Kind, Target        string
	State               loyalty.BulkState
	Done, Total, Errors int64
	CreatedAt           Millis `gorm:"autoCreateTime:false"`
	FinishedAt          Millis
	KeyID               string
	Parameters          Raw
	Progress            Raw
	Version             int64
}

func (bulkRow) TableName() string { return "bulk_operations" }

// bulkItemRow is one customer of a bulk operation.
type bulkItemRow struct {
	BatchID    UUID  `gorm:"primaryKey"`
	Seq        int64 `gorm:"primaryKey;autoIncrement:false"`
	Customer   Text
	CustomerID UUID
	Code       Text
	Count      int64
	Data       Raw
	Error      Raw
	DoneAt     Millis
}

func (bulkItemRow) TableName() string { return "bulk_items" }

func bulkOf(r *bulkRow) loyalty.BulkOperation {
	return loyalty.BulkOperation{
		ID: loyalty.ID(r.ID), Kind: r.Kind, Target: r.Target, State: r.State, Done: r.Done, Total: r.Total, Errors: r.Errors,
		CreatedAt: r.CreatedAt.Time(), FinishedAt: r.FinishedAt.Time(), KeyID: r.KeyID,
		Parameters: json.RawMessage(r.Parameters), Progress: json.RawMessage(r.Progress), Version: r.Version,
	}
}

// AddBulk stores an operation with its items; see loyalty.AdminTx. The names travel as one document: a statement for
// each of a hundred thousand would take minutes.
func (t *adminTx) AddBulk(o loyalty.BulkOperation, customers []string, list string) (loyalty.BulkOperation, error) {
	id, names := "?", "SELECT ?, key + 1, value FROM json_each(?)"
	if t.s.dialect() == goose.DialectPostgres {
		id, names = "?::uuid", "SELECT ?::uuid, n, value FROM json_array_elements_text(?::json) WITH ORDINALITY AS names(value, n)"
	}

	if o.Kind == loyalty.BulkImport { // its items are staged already
		if err := t.beginImport(o); err != nil {
			return o, err
		}
	}

	var added *gorm.DB
	switch {
	case list != "":
		added = t.db.Exec(`INSERT INTO bulk_items (batch_id, seq, customer_id) SELECT `+id+`, row_number() OVER (ORDER BY customer_id), customer_id
FROM list_members WHERE list_id = ?`, UUID(o.ID), list)
	case len(customers) > 0:
		safe := make([]string, len(customers))
		for i, name := range customers {
			safe[i] = cleanText(name)
		}
		text, err := json.Marshal(safe)
		if err != nil {
			return o, err
		}
		added = t.db.Exec(`INSERT INTO bulk_items (batch_id, seq, customer) `+names, UUID(o.ID), string(text))
	}

	if added != nil {
		if added.Error != nil {
			return o, t.s.fault(added.Error)
		}
		if o.Total = added.RowsAffected; o.Total == 0 {
			o.State, o.FinishedAt = loyalty.BulkDone, o.CreatedAt
		}
	}

	if o.State == loyalty.BulkDone {
		if err := t.Notify(loyalty.BulkNotice(&o)); err != nil {
			return o, err
		}
	}

	return o, t.s.fault(t.db.Create(&bulkRow{
		ID: UUID(o.ID), Kind: o.Kind, Target: o.Target, State: o.State, Done: o.Done, Total: o.Total, Errors: o.Errors,
		CreatedAt: Millis(o.CreatedAt), FinishedAt: Millis(o.FinishedAt), KeyID: o.KeyID,
		Parameters: Raw(o.Parameters), Progress: Raw(o.Progress), Version: o.Version,
	}).Error)
}

// OpenBulks counts the operations of a kind that wait or run.
func (t *adminTx) OpenBulks(kind string) (n int64, err error) {
	err = t.db.Model(&bulkRow{}).Where("state <> 'done' AND kind = ?", kind).Count(&n).Error
	return n, t.s.fault(err)
}

// Bulk reads an operation inside the transaction.
func (t *adminTx) Bulk(batch loyalty.ID) (loyalty.BulkOperation, error) {
	var row bulkRow
	err := t.db.Take(&row, "id = ?", UUID(batch)).Error
	return bulkOf(&row), t.s.fault(err)
}

// SaveBulk writes an operation's progress, with the items that were refused.
func (t *adminTx) SaveBulk(o loyalty.BulkOperation, refused []loyalty.BulkItem) error {
	rows := make([]bulkItemRow, len(refused))
	for i, r := range refused {
		rows[i] = bulkItemRow{BatchID: UUID(r.Batch), Seq: r.Seq, Code: Text(cleanText(r.Code)), Count: r.Count, Error: Raw(r.Error), DoneAt: Millis(r.DoneAt)}
	}

	if len(rows) > 0 {
		if err := t.db.CreateInBatches(rows, couponsAtOnce).Error; err != nil {
			return t.s.fault(err)
		}
	}

	written := saveBulk(t.db, o)
	if written.Error == nil && written.RowsAffected != 1 {
		return fmt.Errorf("bulk operation %s is not what it was", o.ID)
	}
	if written.Error == nil && o.State == loyalty.BulkDone {
		return t.Notify(loyalty.BulkNotice(&o))
	}

	return t.s.fault(written.Error)
}

// keptRow is a piece of an upload that waits to be added.
type keptRow struct {
	BatchID UUID  `gorm:"primaryKey"`
	Place   int64 `gorm:"primaryKey;autoIncrement:false"`
	Codes   Document[[]string]
	KeptAt  Millis
}

func (keptRow) TableName() string { return "kept_codes" }

// KeepCodes keeps codes for a fill that is about to begin.
func (s bulkStore) KeepCodes(ctx context.Context, batch loyalty.ID, at time.Time, pieces []loyalty.KeptCodes) error {
	rows := make([]keptRow, len(pieces))
	for i, p := range pieces {
		rows[i] = keptRow{UUID(batch), p.Place, Document[[]string]{p.Codes}, Millis(at)}
	}
	return s.fault(s.write.WithContext(ctx).Create(&rows).Error)
}

// TakeCodes returns and deletes a piece of stored codes.
func (t *adminTx) TakeCodes(batch loyalty.ID, place int64) ([]string, error) {
	var rows []keptRow
	if err := t.db.Where("batch_id = ? AND place = ?", UUID(batch), place).Limit(1).Find(&rows).Error; err != nil || len(rows) == 0 {
		return nil, t.s.fault(err)
	}
	return rows[0].Codes.V, t.s.fault(t.db.Delete(&rows[0]).Error)
}

// keptForgotten is how many pieces of kept codes one transaction deletes.
const keptForgotten = 4

// ForgetCodes deletes kept codes that no open fill needs, some at a time: those of ended fills, and those kept before
// an instant whose fill never began.
func (s bulkStore) ForgetCodes(ctx context.Context, before time.Time) error {
	for {
		var rows []keptRow
		err := s.read.WithContext(ctx).Select("batch_id", "place").Limit(keptForgotten).
			Where("NOT EXISTS (SELECT 1 FROM bulk_operations o WHERE o.id = batch_id AND o.state <> 'done')").
			Where("kept_at < ? OR EXISTS (SELECT 1 FROM bulk_operations o WHERE o.id = batch_id)", Millis(before)).Find(&rows).Error
		if err != nil || len(rows) == 0 {
			return s.classify(err)
		}
		if err := s.write.WithContext(ctx).Delete(&rows).Error; err != nil {
			return s.classify(err)
		}
	}
}

// OpenBulk lists the operations that are not done, the oldest first.
func (s bulkStore) OpenBulk(ctx context.Context) ([]loyalty.BulkOperation, error) {
	var rows []bulkRow
	if err := s.read.WithContext(ctx).Where("state <> 'done'").Order("id").Find(&rows).Error; err != nil {
		return nil, s.classify(err)
	}
	list := make([]loyalty.BulkOperation, len(rows))
	for i := range rows {
		list[i] = bulkOf(&rows[i])
	}
	return list, nil
}

// BulkItems lists the open items of an operation after a given one, with the names under which the engine finds their
// customers.
func (s bulkStore) BulkItems(ctx context.Context, batch loyalty.ID, after int64, limit int) ([]loyalty.BulkItem, error) {
	db := s.read.WithContext(ctx)
	var rows []bulkItemRow
	err := db.Where("batch_id = ? AND seq > ? AND done_at IS NULL", UUID(batch), after).Order("seq").Limit(limit).Find(&rows).Error
	if err != nil {
		return nil, s.fault(err)
	}

	var members []UUID
	for _, r := range rows {
		if r.CustomerID != (UUID{}) {
			members = append(members, r.CustomerID)
		}
	}

	names := map[loyalty.ID]string{}
	if len(members) > 0 {
		if err := s.asks(ctx, namesOf(sqlFragment{"c.id IN ?", []any{members}}, names)); err != nil {
			return nil, err
		}
	}

	items := itemsOf(rows, names)
	return items, s.fault(refer(db, items))
}

// refer decides which name each item's customer text means: the exact id, else an external id in the form name:value.
func refer(db *gorm.DB, items []loyalty.BulkItem) error {
	var doubtful []string
	for i := range items {
		items[i].Ref = loyalty.Name{Kind: loyalty.NameCustomer, Value: items[i].Customer}
		if strings.Contains(items[i].Customer, ":") {
			doubtful = append(doubtful, loyalty.ExternalRef(items[i].Customer))
		}
	}

	if len(doubtful) == 0 {
		return nil
	}

	rows, err := nameTable.find(db.Where("kind = ? AND value IN ?", loyalty.NameExternal, doubtful).
		Where("NOT EXISTS (SELECT 1 FROM names n WHERE n.kind = ? AND n.value = names.value)", loyalty.NameCustomer))
	for i := range items {
		external := loyalty.ExternalRef(items[i].Customer)
		if slices.ContainsFunc(rows, func(r loyalty.Claim) bool { return r.Value == external }) {
			items[i].Ref = loyalty.Name{Kind: loyalty.NameExternal, Value: external}
		}
	}

	return err
}

// itemsOf makes items from rows. An item of a list's member gets the name of the customer who owns the member's data
// now; customers who left are not named.
func itemsOf(rows []bulkItemRow, names map[loyalty.ID]string) []loyalty.BulkItem {
	items := make([]loyalty.BulkItem, len(rows))
	for i, r := range rows {
		items[i] = loyalty.BulkItem{
			BulkKey: loyalty.BulkKey{Batch: loyalty.ID(r.BatchID), Seq: r.Seq}, Customer: string(r.Customer),
			Code: string(r.Code), Count: r.Count, Data: json.RawMessage(r.Data), Error: json.RawMessage(r.Error), DoneAt: r.DoneAt.Time(),
		}
		if r.CustomerID != (UUID{}) {
			items[i].Customer = names[loyalty.ID(r.CustomerID)]
		}
	}
	return items
}

// SaveBulk writes the progress of a stepwise operation, unless another node wrote it first.
func (s bulkStore) SaveBulk(ctx context.Context, o loyalty.BulkOperation) (bool, error) {
	s.passes(BulkStep)
	saved := false
	err := s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		written := saveBulk(db, o)
		if saved = written.RowsAffected == 1; written.Error != nil || !saved || o.State != loyalty.BulkDone {
			return written.Error
		}
		return tell(db, loyalty.BulkNotice(&o))
	})
	return saved && err == nil, s.classify(err)
}

func saveBulk(db *gorm.DB, o loyalty.BulkOperation) *gorm.DB {
	return db.Model(&bulkRow{}).Where("id = ? AND version = ?", UUID(o.ID), o.Version).
		Select("state", "done", "total", "errors", "finished_at", "progress", "version").Updates(&bulkRow{
		State: o.State, Done: o.Done, Total: o.Total, Errors: o.Errors, FinishedAt: Millis(o.FinishedAt),
		Progress: Raw(o.Progress), Version: o.Version + 1,
	})
}

// ForgetBulk deletes operations that ended before an instant, some items at a time.
func (s bulkStore) ForgetBulk(ctx context.Context, before time.Time) error {
	db := s.write.WithContext(ctx)
	for {
		var old []bulkRow
		if err := db.Where("finished_at < ?", Millis(before)).Order("finished_at").Limit(1).Find(&old).Error; err != nil || len(old) == 0 {
			return s.classify(err)
		}

		for rest := int64(forgetPage); rest == forgetPage; {
			deleted := db.Exec(`DELETE FROM bulk_items WHERE batch_id = ? AND seq IN (SELECT seq FROM bulk_items WHERE batch_id = ? LIMIT ?)`,
				old[0].ID, old[0].ID, forgetPage)
			if deleted.Error != nil {
				return s.classify(deleted.Error)
			}
			rest = deleted.RowsAffected
		}

		if err := db.Delete(&bulkRow{}, "id = ?", old[0].ID).Error; err != nil {
			return s.classify(err)
		}
	}
}

// BulkOperation finds an operation of the given kinds.
func (s bulkStore) BulkOperation(ctx context.Context, batch loyalty.ID, kinds ...string) (loyalty.BulkOperation, error) {
	var rows []bulkRow
	err := s.read.WithContext(ctx).Where("id = ? AND kind IN ?", UUID(batch), kinds).Limit(1).Find(&rows).Error
	switch {
	case err != nil:
		return loyalty.BulkOperation{}, s.fault(err)
	case len(rows) == 0:
		return loyalty.BulkOperation{}, loyalty.ErrBatchNotFound.With("batch", batch.String())
	}
	return bulkOf(&rows[0]), nil
}

// BulkErrors lists the refused items, in the order of the request.
func (s bulkStore) BulkErrors(ctx context.Context, batch loyalty.ID, q loyalty.BulkPage) ([]loyalty.BulkItem, error) {
	where, down, offset := sqlFragment{"batch_id = ? AND error IS NOT NULL", []any{UUID(batch)}}, false, 0
	switch {
	case q.After != 0:
		where = where.and("seq > ?", q.After)
	case q.Before != 0:
		where, down = where.and("seq < ?", q.Before), true
	default:
		offset = q.Offset
	}

	list := &unionQuery{table: "bulk_items", columns: "*", branches: []branch{{where: where}}, order: listOrder{id: "seq", descending: down}, page: pager{limit: q.Limit, offset: offset}}
	items, _ := list.sql()
	list.columns = "customer_id"
	members, _ := list.sql()
	var rows []bulkItemRow
	names := map[loyalty.ID]string{}
	read := modelled(s.read, &rows)
	read.sqlFragment = items
	err := s.asks(ctx, read, namesOf(sqlFragment{"c.id IN [[" + members.text + "]]", members.args}, names))
	return itemsOf(inOrder(rows, down), names), err
}
