package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

// anchorChunk is how many heads one transaction writes: on SQLite it blocks all other writes.
const anchorChunk = 2000

type anchorRow struct {
	Number    int64 `gorm:"primaryKey;autoIncrement:false"`
	At        Millis
	Customers int64
	Digest    []byte
}

func (anchorRow) TableName() string { return "anchors" }

// anchoringRow names the run that may write the heads of an anchor: the one that began last. A node that was
// suspended in the middle of a run finds that it may not continue.
type anchoringRow struct {
	Number  int64 `gorm:"primaryKey;autoIncrement:false"`
	Attempt UUID
}

func (anchoringRow) TableName() string { return "anchoring" }

// errAnchoredElsewhere ends a run that another one has overtaken.
var errAnchoredElsewhere = errors.New("another run anchors the journal")

// Anchor records the head of every customer's chain and returns one digest over all of them. Keep the digest where
// the database's owner cannot change it: any later change of the past leads to other heads.
//
// The heads are written some at a time, so that nothing waits for them. Each is stored beside that of the previous
// anchor until the new anchor is complete: a run that ends in the middle leaves the last anchor intact.
func (s proof) Anchor(ctx context.Context, now time.Time) (loyalty.Anchor, error) {
	row, err := s.anchor(ctx, now)
	if err != nil {
		return loyalty.Anchor{}, s.classify(err)
	}
	return loyalty.Anchor{Number: row.Number, At: now, Customers: row.Customers, Digest: [32]byte(row.Digest)}, nil
}

func (s proof) anchor(ctx context.Context, now time.Time) (*anchorRow, error) {
	last, _, err := lastAnchor(s.write.WithContext(ctx))
	if err != nil {
		return nil, err
	}

	row := &anchorRow{Number: last.Number + 1, At: Millis(now)}
	run := anchoringRow{row.Number, UUID(loyalty.NewID(now, loyalty.ID{}))}
	if err := upsert(s.write.WithContext(ctx)).Create(&run).Error; err != nil {
		return nil, err
	}
	if err := s.anchorHeads(ctx, run); err != nil {
		return nil, err
	}

	s.passes(HeadsNoted)
	err = s.consistent(ctx, func(db *gorm.DB) error {
		if err := s.unhurried(db); err != nil {
			return err
		}
		row.Digest, row.Customers, err = anchorDigest(db, row.Number)
		return err
	})
	if err != nil {
		return nil, err
	}

	return row, s.anchoring(ctx, run, func(db *gorm.DB) error {
		if err := db.Create(row).Error; err != nil {
			return err
		}
		return db.Where("number < ?", row.Number).Delete(&anchoringRow{}).Error
	})
}

// anchoring writes on behalf of a run, unless another run has begun since.
func (s proof) anchoring(ctx context.Context, run anchoringRow, write func(*gorm.DB) error) error {
	return s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		held := db.Clauses(clause.Locking{Strength: "UPDATE"}).Where("number = ? AND attempt = ?", run.Number, run.Attempt).Limit(1).Find(&anchoringRow{})
		if held.Error != nil {
			return held.Error
		}
		last, _, err := lastAnchor(db)
		if err == nil && (held.RowsAffected == 0 || last.Number >= run.Number) {
			err = errAnchoredElsewhere
		}
		if err != nil {
			return err
		}
		return write(db)
	})
}

// anchorHeads updates the noted heads to the current ones, some customers at a time.
func (s proof) anchorHeads(ctx context.Context, run anchoringRow) error {
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

		err := s.anchoring(ctx, run, func(db *gorm.DB) error {
			return db.Exec(`INSERT INTO anchored (customer_id, event_id, head, number)
SELECT b.customer_id, b.last_event, b.chain, CAST(? AS bigint) FROM balances b LEFT JOIN anchored a ON a.customer_id = b.customer_id`+where+`
 AND b.chain IS NOT NULL AND (a.head IS NULL OR a.head <> b.chain)
ON CONFLICT (customer_id) DO UPDATE SET event_id = excluded.event_id, head = excluded.head, number = excluded.number,
 kept_event = CASE WHEN anchored.number < excluded.number THEN anchored.event_id ELSE anchored.kept_event END,
 kept_head = CASE WHEN anchored.number < excluded.number THEN anchored.head ELSE anchored.kept_head END`, append(append([]any{run.Number}, args...), last)...).Error
		})
		if err != nil {
			return err
		}

		after = last
	}
}

// headsOf selects the heads of an anchor. A run for the next anchor may have overwritten some rows, which then hold
// the anchor's heads in the kept columns.
func headsOf(number int64) string {
	return fmt.Sprintf(`(SELECT customer_id, CASE WHEN number <= %[1]d THEN event_id ELSE kept_event END AS event_id,
 CASE WHEN number <= %[1]d THEN head ELSE kept_head END AS head FROM anchored WHERE number <= %[1]d OR kept_head IS NOT NULL)`, number)
}

// lastAnchor returns the latest anchor, if there is one.
func lastAnchor(db *gorm.DB) (row anchorRow, ok bool, err error) {
	found := db.Order("number DESC").Limit(1).Find(&row)
	return row, found.RowsAffected > 0, found.Error
}

// anchorDigest hashes all heads of an anchor in the order of the customers' ids.
func anchorDigest(db *gorm.DB, number int64) (digest []byte, customers int64, err error) {
	rows, err := db.Raw(`SELECT customer_id, event_id, head FROM ` + headsOf(number) + ` a ORDER BY customer_id`).Rows()
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error

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

// Anchors lists the latest anchors first, limit at most.
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
