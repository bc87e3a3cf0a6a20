package store

import (
	"context"
	"fmt"
	"time"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// importStore keeps imports from other systems.
type importStore struct{ *database }

// importRow is an import.
type importRow struct {
	ID            UUID `gorm:"primaryKey"`
	Digest        string
	Total, Staged int64
	CreatedAt     Millis `gorm:"autoCreateTime:false"`
	BegunAt       Millis
	KeyID         string
}

func (importRow) TableName() string { return "imports" }

// Import finds the import of some files by their digest.
func (s importStore) Import(ctx context.Context, digest string) (loyalty.Import, bool, error) {
	var rows []importRow
	if err := s.read.WithContext(ctx).Where("digest = ?", digest).Limit(1).Find(&rows).Error; err != nil || len(rows) == 0 {
		return loyalty.Import{}, false, s.fault(err)
	}
	r := rows[0]
	return loyalty.Import{
		ID: loyalty.ID(r.ID), Digest: r.Digest, Total: r.Total, Staged: r.Staged, CreatedAt: r.CreatedAt.Time(), BegunAt: r.BegunAt.Time(), KeyID: r.KeyID,
	}, true, nil
}

// StageImport stores the next rows of an import in a transaction of their own.
func (s importStore) StageImport(ctx context.Context, i loyalty.Import, rows []loyalty.ImportRow) error {
	items := make([]bulkItemRow, len(rows))
	for k, r := range rows {
		items[k] = bulkItemRow{
			BatchID: UUID(i.ID), Seq: i.Staged + int64(k) + 1, Customer: Text(cleanText(r.Customer)), Data: Raw(cleanText(string(loyalty.JSON(r)))),
		}
	}

	tx := s.write.WithContext(ctx).Begin()
	defer tx.Rollback() // no effect after a commit
	if tx.Error != nil {
		return s.fault(tx.Error)
	}

	if i.Staged == 0 {
		made := tx.Exec(`INSERT INTO imports (id, digest, total, staged, created_at, key_id) VALUES (?, ?, ?, 0, ?, ?) ON CONFLICT DO NOTHING`,
			UUID(i.ID), i.Digest, i.Total, Millis(i.CreatedAt), i.KeyID)
		if made.Error != nil {
			return s.fault(made.Error)
		}
	}

	moved := tx.Exec(`UPDATE imports SET staged = ? WHERE id = ? AND staged = ? AND begun_at IS NULL`, i.Staged+int64(len(rows)), UUID(i.ID), i.Staged)
	if moved.Error != nil {
		return s.fault(moved.Error)
	}
	if moved.RowsAffected != 1 {
		return loyalty.ErrBatchConflict
	}
	if err := tx.CreateInBatches(items, couponsAtOnce).Error; err != nil {
		return s.fault(err)
	}

	return s.fault(tx.Commit().Error)
}

// beginImport marks an import as begun, once all of it is staged.
func (t *adminTx) beginImport(o loyalty.BulkOperation) error {
	begun := t.db.Exec(`UPDATE imports SET begun_at = ? WHERE id = ? AND begun_at IS NULL AND staged = total AND total = ?`, Millis(o.CreatedAt), UUID(o.ID), o.Total)
	if begun.Error == nil && begun.RowsAffected != 1 {
		return fmt.Errorf("import %s is not what it was", o.ID)
	}
	return t.s.fault(begun.Error)
}

// ForgetStaged deletes imports that never began, first their rows, some at a time.
func (s importStore) ForgetStaged(ctx context.Context, before time.Time) error {
	db := s.write.WithContext(ctx)
	for {
		var old []importRow
		if err := db.Where("begun_at IS NULL AND created_at < ?", Millis(before)).Limit(1).Find(&old).Error; err != nil || len(old) == 0 {
			return s.classify(err)
		}

		for rest := int64(forgetPage); rest == forgetPage; {
			deleted := db.Exec(`DELETE FROM bulk_items WHERE batch_id = ? AND seq IN (SELECT seq FROM bulk_items WHERE batch_id = ? LIMIT ?)`, old[0].ID, old[0].ID, forgetPage)
			if deleted.Error != nil {
				return s.classify(deleted.Error)
			}
			rest = deleted.RowsAffected
		}

		if err := db.Delete(&importRow{}, "id = ? AND begun_at IS NULL", old[0].ID).Error; err != nil {
			return s.classify(err)
		}
	}
}

// NamesTaken returns which names of a kind are claimed.
func (s importStore) NamesTaken(ctx context.Context, kind loyalty.NameKind, values []string) (map[string]bool, error) {
	taken := map[string]bool{}
	if len(values) == 0 {
		return taken, nil
	}
	var value plain
	w := sqlFragment{"SELECT value FROM names WHERE kind = ? AND value IN ?", []any{int64(kind), values}}
	return taken, s.asks(ctx, w.reads(func() bool {
		taken[string(value)] = true
		return false
	}, &value))
}

// Inactive returns which customers are not enrolled.
func (s importStore) Inactive(ctx context.Context, customers []string) (map[string]bool, error) {
	inactive := map[string]bool{}
	if len(customers) == 0 {
		return inactive, nil
	}
	var name plain
	w := sqlFragment{"SELECT name FROM customers WHERE status = 'inactive' AND id IN [[SELECT owner FROM names WHERE kind = ? AND value IN ?]]", []any{int64(loyalty.NameCustomer), customers}}
	return inactive, s.asks(ctx, w.reads(func() bool {
		inactive[string(name)] = true
		return false
	}, &name))
}

// EmailsTaken returns, for each e-mail address, the names of the customers who have it.
func (s importStore) EmailsTaken(ctx context.Context, keys []string) (map[string][]string, error) {
	taken := map[string][]string{}
	if len(keys) == 0 {
		return taken, nil
	}
	var key, name plain
	w := sqlFragment{"SELECT email_key, name FROM customers WHERE status NOT IN ('opted_out', 'merged') AND email_key IN ?", []any{keys}}
	return taken, s.asks(ctx, w.reads(func() bool {
		taken[string(key)] = append(taken[string(key)], string(name))
		return false
	}, &key, &name))
}
