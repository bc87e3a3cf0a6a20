package store

import (
	"context"
	"errors"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/loyalty-platform/loyalty/server/loyalty"
)

type attemptRow struct {
	WebhookID UUID  `gorm:"primaryKey"`
	Number    int64 `gorm:"primaryKey;autoIncrement:false"`
	N         int   `gorm:"primaryKey;autoIncrement:false"`
	At        Millis
	Status    int
	Fault     Text
	Duration  int64 // microseconds
	Answer    []byte
}

func (attemptRow) TableName() string { return "attempts" }

// webhookTx is a transaction that has a webhook's row.
type webhookTx struct {
	s       webhookStore
	db      *gorm.DB
	webhook loyalty.Webhook
}

// WorkWebhook runs work in a transaction that has a webhook's row: what is under way to one
// address is decided by one node at a time. An error of work rolls back and is returned as
// it is.
func (s webhookStore) WorkWebhook(ctx context.Context, id loyalty.ID, work func(loyalty.WebhookTx) error) error {
	if s.broken() {
		return loyalty.ErrDamaged
	}
	var failed error
	err := s.write.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		var row webhookRow
		if err := db.Clauses(clause.Locking{Strength: "UPDATE"}).Take(&row, "id = ?", UUID(id)).Error; err != nil {
			if errors.Is(err, gorm.ErrRecordNotFound) {
				failed = loyalty.ErrWebhookNotFound.With("webhook", id.String())
				return failed
			}
			return err
		}
		list, err := s.webhooksOf(db, []webhookRow{row})
		if err != nil {
			return err
		}
		failed = work(&webhookTx{s, db, list[0]})
		return failed
	})
	if failed != nil {
		return failed
	}
	return s.classify(s.noteSpace(err))
}

// Webhook is the one whose row is held, as it was found and then decided.
func (t *webhookTx) Webhook() *loyalty.Webhook { return &t.webhook }

// Leased counts the deliveries that are under way.
func (t *webhookTx) Leased(now time.Time) (int, error) {
	var n int64
	err := t.db.Table("deliveries").Where("webhook_id = ? AND owner IS NOT NULL AND lease_until > ?", UUID(t.webhook.ID), Millis(now)).Count(&n).Error
	return int(n), err
}

// Claim takes deliveries whose turn it is.
func (t *webhookTx) Claim(owner loyalty.ID, now, until time.Time, limit int, probe bool) ([]loyalty.Delivery, error) {
	q := t.db.Where("webhook_id = ? AND front AND (lease_until IS NULL OR lease_until <= ?)", UUID(t.webhook.ID), Millis(now))
	if probe {
		q = q.Order("last_at NULLS FIRST, number")
	} else {
		q = q.Where("next_at <= ?", Millis(now)).Order("replay, next_at, number")
	}
	var rows []deliveryRow
	if err := q.Limit(limit).Find(&rows).Error; err != nil || len(rows) == 0 {
		return nil, err
	}
	numbers, list := make([]int64, len(rows)), make([]loyalty.Delivery, len(rows))
	for i := range rows {
		var err error
		if list[i], err = t.s.delivery(&rows[i]); err != nil {
			return nil, err
		}
		numbers[i] = rows[i].Number
	}
	return list, t.db.Model(&deliveryRow{}).Where("webhook_id = ? AND number IN ?", UUID(t.webhook.ID), numbers).
		Updates(map[string]any{"owner": UUID(owner), "lease_until": Millis(until)}).Error
}

// Settle writes what became of a delivery, and lets the next one of its customer go.
func (t *webhookTx) Settle(owner loyalty.ID, d *loyalty.Delivery, a *loyalty.Attempt) (bool, error) {
	over := d.State != loyalty.DeliveryWaiting
	changes := map[string]any{
		"state": d.State, "front": !over, "attempts": d.Attempts, "next_at": Millis(d.NextAt), "owner": nil, "lease_until": nil,
		"last_at": Millis(d.LastAt), "last_status": d.LastStatus, "last_fault": Text(d.LastFault),
	}
	if d.State == loyalty.DeliverySent {
		changes["subject"] = nil
	}
	done := t.db.Model(&deliveryRow{}).Where("webhook_id = ? AND number = ? AND owner = ? AND state = 'waiting'", UUID(t.webhook.ID), d.Number, UUID(owner)).Updates(changes)
	if done.Error != nil || done.RowsAffected != 1 {
		return false, done.Error
	}
	if over && d.Customer != (loyalty.ID{}) {
		err := t.db.Exec(`UPDATE deliveries SET front = (1 = 1) WHERE webhook_id = ? AND number = (SELECT n.number FROM deliveries n
WHERE n.webhook_id = ? AND n.customer_id = ? AND n.replay = ? AND n.state = 'waiting' ORDER BY n.number LIMIT 1)`,
			UUID(t.webhook.ID), UUID(t.webhook.ID), UUID(d.Customer), d.Replay).Error
		if err != nil {
			return false, err
		}
	}
	return true, t.attempt(d, a)
}

// attempt keeps an attempt. What the receiver answered may name the customer: it is sealed
// under their key, and unreadable when they leave.
func (t *webhookTx) attempt(d *loyalty.Delivery, a *loyalty.Attempt) error {
	row := attemptRow{
		WebhookID: UUID(t.webhook.ID), Number: d.Number, At: Millis(a.At), Status: a.Status, Fault: Text(a.Fault), Duration: a.Duration.Microseconds(),
	}
	var last int
	if err := t.db.Model(&attemptRow{}).Where("webhook_id = ? AND number = ?", row.WebhookID, row.Number).Select("coalesce(max(n), 0)").Scan(&last).Error; err != nil {
		return err
	}
	row.N = last + 1
	if len(a.Answer) > 0 {
		var err error
		if row.Answer, err = t.s.sealAnswer(t.db, UUID(d.Customer), &row, a.Answer); err != nil {
			return err
		}
	}
	return t.db.Create(&row).Error
}

func attemptID(r *attemptRow) []byte {
	return append(subjectID(&deliveryRow{WebhookID: r.WebhookID, Number: r.Number}), byte(r.N), byte(r.N>>8))
}

// answerKey is the key of a customer; nil: they left. Answers about no customer are
// sealed under the master key.
func (s webhookStore) answerKey(db *gorm.DB, customer UUID) ([]byte, error) {
	var rows []customerKeyRow
	if err := db.Where("customer_id = ?", customer).Find(&rows).Error; err != nil || len(rows) == 0 {
		return nil, err
	}
	return s.sealer.open(rowID("customer_keys", string(customer[:])), rows[0].Sealed)
}

func (s webhookStore) sealAnswer(db *gorm.DB, customer UUID, r *attemptRow, answer []byte) ([]byte, error) {
	if customer == (UUID{}) {
		return s.sealer.seal(attemptID(r), answer), nil
	}
	key, err := s.answerKey(db, customer)
	if err != nil || key == nil {
		return nil, err
	}
	return loyalty.Seal(key, attemptID(r), answer)
}

func (s webhookStore) openAnswer(key []byte, customer UUID, r *attemptRow) ([]byte, error) {
	switch {
	case r.Answer == nil:
		return nil, nil
	case customer == (UUID{}):
		return s.sealer.open(attemptID(r), r.Answer)
	case key == nil:
		return nil, nil
	}
	return loyalty.Open(key, attemptID(r), r.Answer)
}

// SaveHealth writes how the webhook is, and whether it sends.
func (t *webhookTx) SaveHealth() error {
	r, err := t.s.webhookRowOf(&t.webhook)
	if err != nil {
		return err
	}
	return t.db.Model(&r).Select("state", "reason", "failures", "tries", "failing_since", "told", "pace", "rest_until", "last_success_at").Updates(&r).Error
}

// Hurry makes what waits for its next try due: its address is back.
func (t *webhookTx) Hurry(now time.Time) error {
	return t.db.Model(&deliveryRow{}).Where("webhook_id = ? AND front AND next_at > ?", UUID(t.webhook.ID), Millis(now)).Update("next_at", Millis(now)).Error
}

// Notify keeps what is to be told to other webhooks.
func (t *webhookTx) Notify(n loyalty.Notice) error { return tell(t.db, n) }
