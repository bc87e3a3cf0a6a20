package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"gorm.io/gorm"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// anchorChunk is how many heads are written in one transaction: on SQLite
// nothing else is written meanwhile.
const anchorChunk = 2000

type anchorRow struct {
	Number    int64 `gorm:"primaryKey;autoIncrement:false"`
	At        Millis
	Customers int64
	Digest    []byte
}

func (anchorRow) TableName() string { return "anchors" }

// Anchor records the head of every customer's chain and returns one digest over all of them, to be
// kept where the database's owner cannot change it. Any later change of what was written before
// leads to other heads.
func (s proof) Anchor(ctx context.Context, now time.Time) (loyalty.Anchor, error) {
	if err := s.anchorHeads(ctx); err != nil {
		return loyalty.Anchor{}, s.classify(err)
	}
	var row anchorRow
	err := s.consistent(ctx, func(db *gorm.DB) error {
		if err := s.unhurried(db); err != nil {
			return err
		}
		last, _, err := lastAnchor(db)
		if err != nil {
			return err
		}
		row = anchorRow{Number: last.Number + 1, At: Millis(now)}
		row.Digest, row.Customers, err = anchorDigest(db, row.Number)
		return err
	})
	if err == nil {
		err = s.write.WithContext(ctx).Create(&row).Error // refused where another node anchored meanwhile
	}
	if err != nil {
		return loyalty.Anchor{}, s.classify(err)
	}
	return loyalty.Anchor{Number: row.Number, At: now, Customers: row.Customers, Digest: [32]byte(row.Digest)}, nil
}

// anchorHeads brings the noted heads up to those of now, some customers at a time.
func (s proof) anchorHeads(ctx context.Context) error {
	var after UUID
	for {
		where, args := "", []any{}
		if after != (UUID{}) {
			where, args = " WHERE customer_id > ?", []any{after}
		}
		var through []UUID
		page := s.read.WithContext(ctx).Raw(`SELECT customer_id FROM balances`+where+` ORDER BY customer_id LIMIT ?`, append(args, anchorChunk)...)
		if err := page.Scan(&through).Error; err != nil || len(through) == 0 {
			return err
		}
		last := through[len(through)-1]
		if where == "" {
			where = " WHERE b.customer_id <= ?"
		} else {
			where = " WHERE b.customer_id > ? AND b.customer_id <= ?"
		}
		err := s.write.WithContext(ctx).Exec(`INSERT INTO anchored (customer_id, event_id, head)
SELECT b.customer_id, b.last_event, b.chain FROM balances b LEFT JOIN anchored a ON a.customer_id = b.customer_id`+where+`
 AND b.chain IS NOT NULL AND (a.head IS NULL OR a.head <> b.chain)
ON CONFLICT (customer_id) DO UPDATE SET event_id = excluded.event_id, head = excluded.head`, append(args, last)...).Error
		if err != nil {
			return err
		}
		after = last
	}
}

// lastAnchor returns the latest anchor, if there is one.
func lastAnchor(db *gorm.DB) (row anchorRow, ok bool, err error) {
	found := db.Order("number DESC").Limit(1).Find(&row)
	return row, found.RowsAffected > 0, found.Error
}

// anchorDigest hashes all noted heads in the order of the customers' ids.
func anchorDigest(db *gorm.DB, number int64) (digest []byte, customers int64, err error) {
	rows, err := db.Raw(`SELECT customer_id, event_id, head FROM anchored ORDER BY customer_id`).Rows()
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = rows.Close() }() // rows.Err tells what went wrong
	h := sha256.New()
	var begin [8]byte
	binary.BigEndian.PutUint64(begin[:], uint64(number))
	h.Write(begin[:])
	for rows.Next() {
		var customer, event UUID
		var head []byte
		if err := rows.Scan(&customer, &event, &head); err != nil {
			return nil, 0, err
		}
		h.Write(customer[:])
		h.Write(event[:])
		h.Write(head)
		customers++
	}
	return h.Sum(nil), customers, rows.Err()
}

// Anchors lists the anchors, the latest first, limit at most.
func (s proof) Anchors(ctx context.Context, limit int) ([]loyalty.Anchor, error) {
	var rows []anchorRow
	if err := s.read.WithContext(ctx).Order("number DESC").Limit(limit).Find(&rows).Error; err != nil {
		return nil, s.classify(err)
	}
	list := make([]loyalty.Anchor, len(rows))
	for i, r := range rows {
		list[i] = loyalty.Anchor{Number: r.Number, At: r.At.Time(), Customers: r.Customers, Digest: [32]byte(r.Digest)}
	}
	return list, nil
}
