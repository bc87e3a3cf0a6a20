package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

type noticeRow struct {
	ID    UUID `gorm:"primaryKey"`
	Type  string
	About UUID
	Data  Raw
	At    Millis
}

func (noticeRow) TableName() string { return "notices" }

// Notices lists the notices not yet sent, oldest first.
func (s webhookStore) Notices(ctx context.Context, limit int) ([]loyalty.Notice, error) {
	var rows []noticeRow
	if err := s.read.WithContext(ctx).Order("id").Limit(limit).Find(&rows).Error; err != nil {
		return nil, s.classify(err)
	}
	list := make([]loyalty.Notice, len(rows))
	for i, r := range rows {
		list[i] = loyalty.Notice{ID: loyalty.ID(r.ID), Type: r.Type, About: loyalty.ID(r.About), Data: []byte(r.Data), At: r.At.Time()}
	}
	return list, nil
}

// listening is the condition for webhooks that receive notices; without any, no notices are stored.
const listening = "w.state IN ('active', 'paused')"

// tell stores notices until they are fanned out.
func tell(db *gorm.DB, told ...loyalty.Notice) error {
	var some int64
	if err := db.Table("webhooks w").Where(listening).Count(&some).Error; err != nil || some == 0 {
		return err
	}
	rows := make([]noticeRow, len(told))
	for i, n := range told {
		rows[i] = noticeRow{ID: UUID(n.ID), Type: n.Type, About: UUID(n.About), Data: Raw(n.Data), At: Millis(n.At)}
	}
	return db.Create(rows).Error
}

// bulkEnd is an operation that may have ended with a batch.
type bulkEnd struct {
	bulkCount
	notice loyalty.ID
	batch  string
}

// bulkEnds returns the notices of the operations that a batch worked on.
func bulkEnds(counts []bulkCount) (ends []bulkEnd) {
	for _, c := range counts {
		ends = append(ends, bulkEnd{c, loyalty.NewID(c.At, loyalty.ID{}), c.Batch.String()})
	}
	return ends
}

// insertBulkEnds adds notices of the operations whose last items a batch has done, in the form of loyalty.BulkNotice.
var insertBulkEnds = selects(bulkEndsBy("json_build_object", "::text"),
	field[bulkEnd]{"id", "uuid", func(e *bulkEnd) any { return (*UUID)(&e.Batch) }},
	field[bulkEnd]{"notice", "uuid", func(e *bulkEnd) any { return (*UUID)(&e.notice) }},
	field[bulkEnd]{"batch", "text", func(e *bulkEnd) any { return (*plain)(&e.batch) }},
	field[bulkEnd]{"at", "bigint", func(e *bulkEnd) any { return (*Millis)(&e.At) }}).
	onSQLite(bulkEndsBy("json_object", ""))

func bulkEndsBy(object, text string) string {
	return `INSERT INTO notices (id, type, about, data, at) SELECT v.notice, CASE WHEN o.kind = '` + loyalty.BulkImport + `' THEN '` + loyalty.ImportEnded +
		`' ELSE '` + loyalty.BulkEnded + `' END, NULL, ` + object + `('batch_id', v.batch, 'kind', o.kind, 'target', coalesce(o.target, ''), 'done', o.done, 'errors', o.errors)` + text +
		`, v.at FROM v JOIN bulk_operations o ON o.id = v.id WHERE o.state = 'done' AND EXISTS (SELECT 1 FROM webhooks w WHERE ` + listening + `)`
}
